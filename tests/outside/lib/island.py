"""A cluster node in its own network namespace: all its traffic passes through relays that a test
can cut. Creating a namespace requires root."""

import ctypes
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor

from lib import needs
from lib.cluster import CONTACT_POINTS, Node
from lib.relay import Relay, listener, outgoing
from lib.server import address

CLONE_NEWNET = 0x4000_0000


class Island:
    """A network namespace with nothing but a loopback device, held by two threads: while one waits
    for a server to start, relays must still be able to create sockets on the other."""

    def __init__(self):
        needs.root("a network namespace")
        self.thread, self.sockets = ThreadPoolExecutor(1), ThreadPoolExecutor(1)
        self.run(self.leave)
        # A thread inherits the namespace of the thread that creates it.
        self.run(lambda: self.sockets.submit(outgoing).result().close())

    @staticmethod
    def leave():
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.unshare(CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), f"unshare: {os.strerror(ctypes.get_errno())}")
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)

    def run(self, what, *args):
        """Calls a function in the namespace: processes and sockets that it creates belong to it."""
        return self.thread.submit(what, *args).result()

    def outgoing(self):
        return self.sockets.submit(outgoing).result()

    def close(self):
        self.thread.shutdown()
        self.sockets.shutdown()


class Links:
    """Several relays that are cut together."""

    def __init__(self):
        self.relays = []

    def cut(self, *ways):
        for relay in self.relays:
            relay.cut(*ways)

    def mend(self, drop=False):
        for relay in self.relays:
            relay.mend(drop)

    def slow(self, least, most):
        for relay in self.relays:
            relay.slow(least, most)


class IslandNode(Node):
    """A node that reaches Cassandra through `cassandra`, other nodes through `outward`, and that
    other nodes reach through `inward`. Clients are never cut off."""

    def __init__(self, *args, flags=(), **options):
        self.island = Island()
        self.cassandra, self.outward, self.inward = Links(), Links(), Links()
        for text in CONTACT_POINTS.split(","):
            self.outwards(self.cassandra, address(text))
        #: Relays through which clients and other nodes reach the node's listeners.
        self.doors = {name: self.inwards() for name in ("mongo", "cosmos", "admin", "peer")}
        self.inward.relays.append(self.doors["peer"])
        host, port = self.doors["peer"].address
        flags = [*flags, "--peer-advertise", f"{host}:{port}"]
        self.doors["peer"].target = ("127.0.0.1", 8090)
        super().__init__(*args, flags=flags, peer="127.0.0.1:8090", **options)
        self.reached = f"{host}:{port}"

    def outwards(self, links, target):
        """Makes an outside address reachable under the same address inside the namespace."""
        links.relays.append(Relay(self.island.run(listener, target), target))

    def inwards(self):
        return Relay(listener(), outgoing=self.island.outgoing)

    def meet(self, peers):
        for text in peers:
            self.outwards(self.outward, address(text))

    def start(self):
        self.island.run(super().start)
        self.client.close()
        self.doors["mongo"].target, self.doors["cosmos"].target = self.address, self.items.address
        self.doors["admin"].target = address(self.admin_url.removeprefix("http://"))
        host, port = self.doors["admin"].address
        self.admin_url = f"http://{host}:{port}"
        self.address, self.items.address = self.doors["mongo"].address, self.doors["cosmos"].address
        self.client = self.connect(event_listeners=self.listeners)
        return self

    def mend(self, drop=False):
        for links in (self.cassandra, self.outward, self.inward):
            links.mend(drop)

    def close(self):
        super().close()
        relays = [*self.cassandra.relays, *self.outward.relays, *self.doors.values()]
        for relay in relays:
            relay.close()
        self.island.close()
