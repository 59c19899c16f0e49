"""A cluster on a Cassandra with TLS, client certificates and logins (`tests/cluster/run --secure`):
nodes serve and take over, and are refused if any of these is missing."""

import subprocess

import pytest
from lib.cluster import CONTACT_POINTS, FLAGS, Cluster, Node, dump, init, new_keyspace
from lib.server import EBB_BIN

pytestmark = pytest.mark.skipif(not FLAGS, reason="Cassandra asks for nothing here")

FAILED, USAGE, REFUSED = 1, 2, 3
#: Connection options with the files and credentials that tests/cluster/cassandra creates.
OF = dict(flag.removeprefix("--cassandra-").split("=", 1) for flag in FLAGS)


def asked(**changed):
    """Returns exit code and error of a connection with changed flags; None omits one."""
    flags = OF | {name.replace("_", "-"): value for name, value in changed.items()}
    line = [EBB_BIN, "admin", "cluster", "init", "--cassandra-contact-points", CONTACT_POINTS]
    line += ["--cassandra-keyspace", new_keyspace()]
    line += [f"--cassandra-{name}={value}" for name, value in flags.items() if value is not None]
    done = subprocess.run(line, capture_output=True, text=True, timeout=60)
    return done.returncode, done.stderr


def test_nodes_serve_and_take_over(tmp_path):
    with Cluster([Node, Node]) as cluster:
        owner = cluster.whole()
        owner.client["d"]["c"].insert_one({"_id": 1})
        owner.kill()
        after = cluster.owner(but=[owner])
        assert after.client["d"]["c"].find_one() == {"_id": 1}
        dumped = dump(cluster.keyspace, tmp_path / "dumped")
        assert dumped.returncode == 0, dumped
        again = init(cluster.keyspace)
        assert (again.returncode, "already holds a cluster" in again.stderr) == (REFUSED, True)


@pytest.mark.parametrize(
    ("changed", "codes", "said"),
    [
        ({"ca": None, "cert": None, "cert_key": None}, [FAILED], ""),
        ({"ca": OF.get("cert")}, [FAILED], "certificate"),
        ({"cert": None, "cert_key": None}, [FAILED], ""),
        ({"user": None, "password_file": None}, [FAILED, REFUSED], ""),
        ({"password_file": OF.get("ca")}, [FAILED, REFUSED], "credentials"),
        ({"ca": "/nowhere.pem"}, [USAGE], "/nowhere.pem"),
        ({"cert_key": OF.get("ca")}, [USAGE], OF.get("ca", "")),
        ({"password_file": "/nowhere"}, [USAGE], "/nowhere"),
    ],
)
def test_nobody_comes_in_without(changed, codes, said):
    code, text = asked(**changed)
    print(changed, code, text)
    assert (code in codes, said in text) == (True, True), (code, text)
