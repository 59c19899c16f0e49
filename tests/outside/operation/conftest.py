"""The machine on which the commands of docs/operations.md have been executed."""

import pytest

from operation.machine import CLONE, SOURCES, TOM, Machine
from operation.page import OF_TOM, parts


class Gone:
    """The results of commands: their output by heading, and the failed commands."""

    def __init__(self, machine):
        self.machine, self.printed, self.failed = machine, {}, []

    def through(self, block):
        printed, failed = self.machine.run(block.text)
        self.printed[block.heading] = self.printed.get(block.heading, "") + printed
        if failed:
            self.failed.append(f"{block.heading}: {failed}\n{printed}")

    def prepare(self, *commands):
        """Runs commands that are not on the page, and have to succeed."""
        for command in commands:
            printed, failed = self.machine.run(command)
            assert not failed, f"{failed}: {printed}"


@pytest.fixture(scope="session")
def walked(tmp_path_factory):
    """A machine on which the first part of the page was executed; its shell is root's."""
    machine = Machine(tmp_path_factory.mktemp("machine"))
    gone = Gone(machine)
    try:
        gone.prepare(
            "echo 127.0.0.1 db.example >>/etc/hosts",
            f"useradd --create-home --shell /bin/bash {TOM}",
            f"mkdir {SOURCES}; cp -r {CLONE}/deploy {SOURCES}/; chown -R {TOM}: {SOURCES}",
            f"cd {SOURCES}",
        )
        machine.become(TOM)
        is_tom = True
        for block in parts()[0]:
            if is_tom and block.heading not in OF_TOM:
                machine.leave()
                is_tom = False
            gone.through(block)
        yield gone
    finally:
        machine.close()
