"""Users of a cluster with certificates: the link between nodes carries their identity."""

import contextlib

import pytest
from lib.authority import Authority, subject_of, with_certificate
from lib.cluster import Cluster

from cluster.asking import FORBIDDEN, WRONG, AskingNode, code_of, until_all

ROLE = {"role": "readAnyDatabase", "db": "admin"}
DATABASES = [f"db{number}" for number in range(8)]


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("tls"), "good")


def shows(node, path):
    """Returns a client that presents a certificate to a node, and trusts the node's own."""
    return with_certificate(node, node.data_dir / "nosql" / "certificate.pem", path)


def test_a_certificate_is_the_same_user_at_all_nodes(authority):
    ann = authority.sign("ann", "/O=y/CN=ann", "extendedKeyUsage=clientAuth")
    eve = authority.sign("eve", "/O=y/CN=eve", "extendedKeyUsage=clientAuth")
    name = subject_of(ann)
    flags = ["--tls-client-ca", str(authority.path)]
    with Cluster([AskingNode] * 3, shards=3, flags=flags) as cluster:
        root = cluster.whole().client
        for database in DATABASES:
            root[database]["c"].insert_one({"_id": 1})
        root["$external"].command("createUser", name, roles=[ROLE])
        with contextlib.ExitStack() as opened:
            clients = [opened.enter_context(shows(node, ann)) for node in cluster.nodes]
            for client in clients:
                for database in DATABASES:
                    assert client[database]["c"].find_one() == {"_id": 1}
                    status = client[database].command("connectionStatus")["authInfo"]
                    assert status["authenticatedUsers"] == [{"user": name, "db": "$external"}]
                    assert code_of(client[database]["c"].insert_one, {}) == FORBIDDEN
                assert code_of(client.admin.command, "usersInfo", {"forAllDBs": True}) == FORBIDDEN
            root["$external"].command("dropUser", name)
            until_all(clients, DATABASES, FORBIDDEN)
        for node in cluster.nodes:
            for path in (ann, eve):
                with shows(node, path) as client:
                    assert code_of(client["db0"]["c"].find_one) == WRONG
