"""A cluster under test: `ebb` nodes, each with its own data directory, in a new keyspace of the
Apache Cassandra that EBB_CASSANDRA names. All nodes are stopped at the end of the test."""

import contextlib
import os
import pathlib
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
import uuid
from concurrent.futures import ThreadPoolExecutor

from lib import needs
from lib.ports import free_port
from lib.server import EBB_BIN, Server, address

#: HOST:PORT,... of Cassandra's nodes, and the folder that `tests/cluster/cassandra` runs them from.
CONTACT_POINTS = os.environ.get("EBB_CASSANDRA", "")
FOLDER = os.environ.get("EBB_CASSANDRA_DIR", "")
#: Further flags for `ebb`, when Cassandra requires certificates or a login.
FLAGS = os.environ.get("EBB_CASSANDRA_FLAGS", "").split()
SCRIPT = pathlib.Path(__file__).parents[2] / "cluster" / "cassandra"
#: Seconds within which a live node takes over, on a machine that runs other work too.
OWNED_WITHIN = 90.0
#: Seconds within which a hand-over succeeds or fails.
HAND_OVER = 25.0


def of_keyspace(keyspace):
    """Returns the flags that name a keyspace."""
    where = ["--cassandra-contact-points", CONTACT_POINTS, "--cassandra-keyspace", keyspace]
    return [*where, *FLAGS]


def init(keyspace, *more, within=120):
    """Runs `ebb admin cluster init`, which fails if the nodes of Cassandra do not agree on the
    schema within 60 seconds."""
    return run("init", keyspace, *more, within=within)


def dump(keyspace, directory, within=60):
    """Runs `ebb admin cluster dump`."""
    return run("dump", keyspace, str(directory), within=within)


def verify(keyspace, directory, within=60):
    """Runs `ebb admin cluster verify` on the directory of a stopped node."""
    return run("verify", keyspace, str(directory), within=within)


def forget(keyspace, node):
    """Runs `ebb admin cluster forget`, which takes some seconds to see if the node lives."""
    return run("forget", keyspace, node, within=60)


def accept_loss(keyspace, *more):
    """Runs `ebb admin cluster accept-loss` for shard 0."""
    return run("accept-loss", keyspace, "0", *more, within=60)


def run(what, keyspace, *more, within):
    line = [EBB_BIN, "admin", "cluster", what, *of_keyspace(keyspace), *more]
    return subprocess.run(line, capture_output=True, text=True, timeout=within)


def new_keyspace():
    return f"t{uuid.uuid4().hex[:12]}"


class Node(Server):
    """One node. Like every server under test it gets new ports at each start."""

    def __init__(self, keyspace, name, flags=(), peer=None, **options):
        #: Address of the link between nodes; it stays the same over restarts.
        self.peer = peer or f"127.0.0.1:{free_port()}"
        own = ["--store", "cassandra", *of_keyspace(keyspace), "--node-name", name]
        flags = [*own, "--peer-addr", self.peer, *flags]
        super().__init__(
            data_dir=True, flags=flags, **{"nosql": True, "log_level": "info", **options}
        )
        #: Address at which other nodes reach this one.
        self.reached = self.peer
        self.name = name
        self.paused = False

    def meet(self, peers):
        """Receives the other nodes' link addresses; a plain node discovers them itself."""

    def connect_once(self):
        """Returns a client without retries and with short timeouts."""
        return self.connect(
            retryWrites=False,
            retryReads=False,
            serverSelectionTimeoutMS=1_000,
            socketTimeoutMS=20_000,
        )

    def pause(self):
        self.process.send_signal(signal.SIGSTOP)
        self.paused = True

    def go_on(self):
        self.process.send_signal(signal.SIGCONT)
        self.paused = False

    def serves(self):
        """Returns whether the node runs and is not paused."""
        return self.process is not None and self.alive() and not self.paused

    def about(self):
        """Returns the node's view of the cluster."""
        return self.admin("/_ebb/cluster")

    def role(self):
        """Returns the node's role for the data, or None if it does not reply."""
        try:
            return self.about()["node"]["role"]
        except OSError:
            return None

    def figure(self, name):
        """Returns the value of a metric, summed over all shards."""
        with urllib.request.urlopen(self.admin_url + "/metrics", timeout=10) as reply:
            lines = reply.read().decode().splitlines()
        found = [line for line in lines if line.startswith((f"{name} ", f"{name}{{"))]
        assert found, f"no metric {name}"
        return sum(float(line.rsplit(" ", 1)[1]) for line in found)

    def clock_ms(self):
        return self.admin("/_ebb/clock")["now_ms"]


class Cluster:
    """Nodes `node1`, `node2` and so on. `kinds` are their classes, `flags_of` maps the number of a
    node to flags of its own. A given `keyspace` must already be initialized. Methods that concern
    one shard use shard 0."""

    def __init__(
        self,
        kinds=(Node, Node, Node),
        clock="system",
        flags=(),
        flags_of=None,
        keyspace=None,
        shards=1,
        **options,
    ):
        self.keyspace, self.clock = keyspace or new_keyspace(), clock
        self.shards = shards
        self.is_made = keyspace is not None
        #: The nodes' wall clocks, if the test moves them.
        self.walls = None
        self.nodes = []
        for number, kind in enumerate(kinds, 1):
            own = [*flags, *(flags_of or {}).get(number, [])]
            name = f"node{number}"
            self.nodes.append(kind(self.keyspace, name, flags=own, clock=clock, **options))
        for node in self.nodes:
            node.meet([other.reached for other in self.nodes if other is not node])

    def __enter__(self):
        try:
            if not self.is_made:
                made = init(self.keyspace, "--clock", self.clock, "--shards", str(self.shards))
                assert made.returncode == 0, made.stdout + made.stderr
            self.start(*self.nodes)
            self.owner()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        for node in self.nodes:
            node.close()

    def start(self, *nodes):
        """Starts nodes in parallel."""
        with ThreadPoolExecutor(len(nodes) or 1) as pool:
            list(pool.map(lambda node: node.start(), nodes))

    def serving(self):
        return [node for node in self.nodes if node.serves()]

    def owner(self, but=(), within=OWNED_WITHIN):
        """Waits for a ready owner that is not in `but`, and returns it."""
        until = time.monotonic() + within
        while True:
            for node in self.serving():
                if node not in but and node.role() == "owner" and node.ready()[0] == 200:
                    return node
            assert time.monotonic() < until, f"nobody owns the data: {self.told()}"
            time.sleep(0.05)

    def followers(self):
        owner = self.owner()
        return [node for node in self.serving() if node is not owner]

    def whole(self, within=OWNED_WITHIN):
        """Waits until there is an owner and all nodes are ready; returns the owner."""
        until = time.monotonic() + within
        owner = self.owner(within=within)
        while True:
            states = {node.name: node.ready() for node in self.nodes}
            if all(status == 200 for status, _ in states.values()):
                return owner
            assert time.monotonic() < until, f"not ready: {states} {self.told()}"
            time.sleep(0.05)

    def until(self, condition, what, within=OWNED_WITHIN):
        """Waits for a condition; if it does not come true, fails with the state of all nodes."""
        until = time.monotonic() + within
        while not condition():
            states = [(node.name, node.role(), node.ready()) for node in self.serving()]
            assert time.monotonic() < until, f"{what}: {states} {self.told()}"
            time.sleep(0.05)

    def told(self):
        """Returns the end of every node's log."""
        return {node.name: node.log.read_text(errors="replace")[-1500:] for node in self.nodes}

    def verify(self, *nodes, within=60):
        """Stops nodes that still run, and verifies each copy against the cluster's journal."""
        for node in nodes:
            if node.process.poll() is None:
                node.leave()
            found = verify(self.keyspace, node.data_dir, within)
            assert found.returncode == 0, f"{node.name}: {found.stdout}{found.stderr}"

    def refuse_hand_over(self, to, shard=0):
        """Requests a hand-over that must be refused; returns the status and the message."""
        body = {"shard": shard, "to": to.name}
        [through, *_] = self.serving()
        try:
            answer = through.admin("/_ebb/cluster/hand-over", body, HAND_OVER)
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()
        raise AssertionError(f"not refused: {answer}")

    def hand_over(self, to):
        """Has the owner hand over its data to a node; returns the seconds it reports for that."""
        body = {"shard": 0, "to": to.name}
        [through, *_] = self.serving()
        try:
            return through.admin("/_ebb/cluster/hand-over", body, HAND_OVER)["took_ms"] / 1000
        except OSError as error:
            text = error.read() if isinstance(error, urllib.error.HTTPError) else ""
            states = [(node.name, node.role(), node.ready()) for node in self.serving()]
            raise AssertionError(f"{error} {text} {states} {self.told()}") from error


class Cassandra:
    """Kills and starts nodes of Cassandra (1 to 3), which all clusters of the run share."""

    def __init__(self):
        assert FOLDER, "EBB_CASSANDRA_DIR is not set: run through tests/cluster/cassandra"

    def run(self, what, number, *more, within=300.0):
        line = [str(SCRIPT), what, FOLDER, str(number), *more]
        done = subprocess.run(line, capture_output=True, text=True, timeout=within)
        assert done.returncode == 0, f"{what} {number}: {done.stdout}{done.stderr}"

    def kill(self, number):
        """Kills a node with SIGKILL; returns when its port is closed."""
        self.run("kill", number)
        where, until = address(CONTACT_POINTS.split(",")[number - 1]), time.monotonic() + 10
        while True:
            try:
                socket.create_connection(where, timeout=1).close()
            except ConnectionError:
                return
            assert time.monotonic() < until, f"node {number} of Cassandra lives on"
            time.sleep(0.01)

    def start(self, number):
        """Starts a node again, and waits until it serves."""
        self.run("start-node", number)

    @contextlib.contextmanager
    def silent(self, number):
        """While the body runs, a node neither replies nor closes connections, as if its machine or
        network had failed."""
        process = int((pathlib.Path(FOLDER) / str(number) / "pid").read_text())
        os.kill(process, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(process, signal.SIGCONT)

    @contextlib.contextmanager
    def unreachable(self, number, share=1.0):
        """While the body runs, a share of the packets of connections that a node accepted is
        dropped, those of the other nodes too. Its own connections to the others have the same
        source address as theirs and are not affected, but carry nothing that was not requested.
        Needs root and iptables."""
        ports = (pathlib.Path(FOLDER) / "ports").read_text().split()
        host, native = address(CONTACT_POINTS.split(",")[number - 1])
        served = f"{native},{ports[1]}"
        random = ["-m", "statistic", "--mode", "random", "--probability", str(share)]
        rules = [
            ["INPUT", "-p", "tcp", *end, "-m", "multiport", *port, *random, "-j", "DROP"]
            for end, port in (
                (["-d", host], ["--dports", served]),
                (["-s", host], ["--sports", served]),
            )
        ]
        # Waits for the lock of another process that changes the rules.
        filter = [needs.program("iptables-legacy", "iptables"), "-w"]
        with contextlib.ExitStack() as ends:
            for rule in rules:
                subprocess.run([*filter, "-I", *rule], check=True, capture_output=True)
                ends.callback(subprocess.run, [*filter, "-D", *rule], check=True)
            yield

    def settle(self, number, within=120.0):
        """Waits until both other nodes reach a node that was unreachable, and agree with it on the
        schema. TCP takes as long again as packets were lost. If they do not in time, restarts the
        node: the next tests need all three."""
        until, others = time.monotonic() + within, {1, 2, 3} - {number}
        while others and time.monotonic() < until:
            others = {other for other in others if not self.agrees(other)}
        if others:
            print(f"node {number} of Cassandra is restarted", file=sys.stderr)
            self.kill(number)
            self.start(number)

    def agrees(self, number):
        """Returns whether a node reaches all nodes, and all have the same version of the schema."""
        state = self.nodetool(number, "describecluster")
        versions = state.partition("Schema versions:")[2].partition("Stats")[0]
        return versions.count(": [") == 1 and "UNREACHABLE" not in versions

    def nodetool(self, number, *words, within=60.0):
        """Runs Cassandra's own tool on a node, and returns its output."""
        line = [str(SCRIPT), "nodetool", FOLDER, str(number), *words]
        done = subprocess.run(line, capture_output=True, text=True, timeout=within)
        return done.stdout + done.stderr

    def repair(self, number, *keyspaces):
        """Repairs a node: copies the writes to it that it missed."""
        for keyspace in keyspaces:
            self.run("nodetool", number, "repair", "-full", keyspace)

    def mend(self, number, *keyspaces):
        self.start(number)
        self.repair(number, *keyspaces)

    @contextlib.contextmanager
    def without(self, number, *keyspaces):
        """Keeps a node down while the body runs."""
        self.kill(number)
        try:
            yield
        finally:
            self.mend(number, *keyspaces)
