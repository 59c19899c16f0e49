"""Runs the honest clients of `honest.py` in a process of their own."""

import json
import pathlib
import subprocess
import sys

from bombs import data


def furnish(server):
    """Stores the document and the item that they read, if a test needs no other data."""
    server.client[data.DATABASE]["honest"].insert_one(data.HONEST)
    assert server.items.create_database(data.DATABASE).status == 201
    container = server.items.container(data.DATABASE, "c")
    assert container.define().status == 201
    assert container.create(data.ITEM).status == 201


class Probe:
    """Runs `clients` clients at each API of the server and at a control server that is not
    attacked."""

    def __init__(self, server, control, clients=1):
        addresses = [server.address, server.items.address, control.address]
        # By its path: a forked module would start with everything loaded in this process.
        self.process = subprocess.Popen(
            [
                sys.executable,
                str(pathlib.Path(__file__).with_name("honest.py")),
                *(f"{host}:{port}" for host, port in addresses),
                str(clients),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.pid = self.process.pid
        self.told()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def told(self):
        """Returns the measurements since the last call, by API and `control`."""
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def close(self):
        self.process.stdin.close()
        self.process.wait(60)
        self.process.stdout.close()
