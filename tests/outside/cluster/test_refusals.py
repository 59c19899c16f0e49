"""Refusals of a cluster: wrong keyspaces, directories, settings and calls, each with its reason and
exit code, and without harm to running nodes. Exit codes as in docs/operations.md."""

import contextlib
import hashlib
import json
import os
import subprocess
import time

import pytest
from lib import cql
from lib.cluster import CONTACT_POINTS, Cluster, Node, init, new_keyspace, of_keyspace
from lib.server import EBB_BIN, Server, address
from lib.wire import Wire

FAILED, USAGE, REFUSED = 1, 2, 3
#: Seconds; a node may try to connect to Cassandra for some of them before it checks anything.
ENDS_WITHIN = 60
MAGIC = b"ebblink1"


@pytest.fixture(scope="module")
def cluster():
    with Cluster([Node, Node]) as cluster:
        yield cluster
        cluster.whole()
        for node in cluster.nodes:
            node.leave()


@pytest.fixture(scope="module")
def other():
    """Returns a keyspace with a cluster that has no node."""
    keyspace = new_keyspace()
    made = init(keyspace)
    if "timed out" in made.stderr:
        # Cassandra was busy: it is unknown whether the first attempt succeeded.
        made = init(keyspace)
    assert made.returncode == 0 or "already" in made.stderr, made
    return keyspace


def serve(directory, *flags):
    """Returns exit code and standard error of a server that must fail to start."""
    doors = [
        part for name in ("mongo", "cosmos", "admin") for part in (f"--{name}-addr", "127.0.0.1:0")
    ]
    line = [EBB_BIN, "serve", "--data-dir", str(directory), *doors, "--log-level", "error", *flags]
    done = subprocess.run(line, capture_output=True, text=True, timeout=ENDS_WITHIN)
    return done.returncode, done.stderr


def as_node(directory, keyspace, *flags):
    peer = [] if "--peer-addr" in flags else ["--peer-addr", "127.0.0.1:0"]
    return serve(directory, "--store", "cassandra", *of_keyspace(keyspace), *peer, *flags)


def empty_keyspace(copies):
    keyspace = new_keyspace()
    replication = {"class": "SimpleStrategy", "replication_factor": copies}
    text = json.dumps(replication).replace('"', "'")
    cql.execute(
        address(CONTACT_POINTS.split(",")[0]),
        f"CREATE KEYSPACE {keyspace} WITH replication = {text}",
    )
    return keyspace


def test_a_second_cluster_in_a_keyspace(cluster):
    again = init(cluster.keyspace)
    assert (again.returncode, again.stdout) == (REFUSED, "")
    assert "already holds a cluster" in again.stderr


def test_a_keyspace_that_is_not_there(tmp_path):
    keyspace = new_keyspace()
    code, text = as_node(tmp_path, keyspace)
    assert (code, keyspace in text) == (REFUSED, True), text


def test_a_keyspace_without_a_cluster(tmp_path):
    keyspace = empty_keyspace(3)
    code, text = as_node(tmp_path, keyspace)
    assert (code, keyspace in text) == (REFUSED, True), text


def test_a_keyspace_with_one_copy():
    """Such a keyspace is neither created, nor used if it exists."""
    asked = init(new_keyspace(), "--replication", "1")
    assert asked.returncode == USAGE
    assert "3 at least" in asked.stderr
    found = init(empty_keyspace(1))
    assert found.returncode == REFUSED, found
    assert "the keyspace has 1 replicas" in found.stderr


def test_a_directory_of_another_cluster(cluster, other):
    [node, *_] = cluster.nodes
    assert node.stop() == 0
    try:
        code, text = as_node(node.data_dir, other)
        assert (code, "belongs to cluster" in text) == (REFUSED, True), text
        # And it is as it was.
    finally:
        node.start()
    cluster.whole()


def test_a_directory_of_a_server_of_its_own(tmp_path, cluster):
    with Server(data_dir=tmp_path / "own") as server:
        server.client["d"]["c"].insert_one({"_id": 1})
        server.leave()
        code, text = as_node(server.data_dir, cluster.keyspace)
        assert (code, "a stand-alone server" in text) == (REFUSED, True), text
        server.start()
        assert server.client["d"]["c"].find_one() == {"_id": 1}
        server.end()


def test_a_directory_of_a_node_without_its_cluster(cluster):
    node = cluster.nodes[1]
    assert node.stop() == 0
    try:
        code, text = serve(node.data_dir)
        assert (code, "belongs to a cluster node" in text) == (REFUSED, True), text
        verified = node.verify()
        assert verified.returncode == REFUSED, verified
    finally:
        node.start()
    cluster.whole()


def test_a_directory_that_another_node_uses(cluster):
    code, text = as_node(cluster.nodes[0].data_dir, cluster.keyspace)
    assert code == REFUSED, text


def test_a_link_that_other_machines_reach_without_certificates(tmp_path, cluster):
    code, text = as_node(tmp_path, cluster.keyspace, "--peer-addr", "0.0.0.0:0")
    assert (code, "--peer-ca" in text) == (USAGE, True), text


@pytest.mark.parametrize(
    ("flags", "code"),
    [
        (["--store", "cassandra"], USAGE),
        (
            ["--store", "cassandra", "--in-memory", "--cassandra-contact-points", "127.0.0.1:1"],
            USAGE,
        ),
        (["--cassandra-keyspace", "ebb"], USAGE),
        (["--peer-addr", "127.0.0.1:0"], USAGE),
        (["--store", "cassandra", "--cassandra-contact-points", "127.0.0.1"], USAGE),
        (["--store", "cassandra", "--cassandra-contact-points", "127.0.0.1:1"], FAILED),
    ],
)
def test_settings_that_lead_nowhere(tmp_path, flags, code):
    found, text = serve(tmp_path, *flags)
    assert found == code, text
    last = [line for line in text.splitlines() if line.startswith(("ebb: ", "error: "))]
    assert last, text


def test_another_clock_than_the_clusters(tmp_path, cluster):
    code, text = as_node(tmp_path, cluster.keyspace, "--clock", "manual")
    assert (code, "clock" in text) == (REFUSED, True), text


def test_a_hand_over_to_nobody(cluster):
    line = [EBB_BIN, "admin", "cluster", "hand-over", "0", "--to", "nobody"]
    where = cluster.owner().admin_url.removeprefix("http://")
    done = subprocess.run(
        [*line, "--admin-addr", where], capture_output=True, text=True, timeout=30
    )
    assert done.returncode == FAILED, done
    assert "there is no node nobody" in done.stderr
    cluster.whole()


# The link.


def called(node):
    """Opens a connection to a node's link; returns it and the challenge."""
    wire = Wire(address(node.peer))
    first = wire.socket.recv(40)
    assert len(first) == 40 and first.startswith(MAGIC)
    return wire, first[len(MAGIC) :]


def ends(wire, within=10.0):
    """Returns whether the node closes the connection without a reply."""
    wire.socket.settimeout(within)
    try:
        return wire.socket.recv(100) == b""
    except ConnectionResetError:
        return True


NOISE = {
    "of http": b"GET / HTTP/1.1\r\nHost: a\r\n\r\n",
    "too long": b"\xff" * 5_000,
    "zeros": b"\0" * 200,
    "random": os.urandom(3_000),
}


@pytest.mark.parametrize("noise", NOISE)
def test_noise_on_the_link(cluster, noise):
    for node in cluster.nodes:
        wire, _ = called(node)
        wire.send(NOISE[noise])
        with contextlib.suppress(OSError):
            wire.half_close()
        assert ends(wire)
        assert node.alive()


def test_a_call_with_another_secret(cluster):
    """Signed with a secret of another cluster; a signature observed on one connection does not help
    either."""
    for node in cluster.nodes:
        for key in (b"", b"secret", bytes(32)):
            wire, challenge = called(node)
            call = {
                "cluster": cluster.nodes[0].about()["cluster"],
                "purpose": "admin",
                "client": None,
                "secure": False,
                "open": True,
                "nonce": "0" * 32,
            }
            text = json.dumps(call).encode()
            signature = hashlib.sha256(key + b"call" + challenge + text).digest()
            wire.send(len(text).to_bytes(2, "big") + text + signature)
            assert ends(wire)


def test_a_caller_that_says_nothing(cluster):
    """Silent callers do not keep connections to the link, and clients are forwarded."""
    [follower, *_] = cluster.followers()
    owner = cluster.owner()
    wires = [called(owner)[0] for _ in range(50)]
    began = time.monotonic()
    assert follower.connect().admin.command("ping")["ok"] == 1
    assert time.monotonic() - began < 10
    assert all(ends(wire) for wire in wires)
    assert time.monotonic() - began < 15
