"""Users of a cluster: a login at one node is valid wherever the data is, a change made at one node
takes effect at all, and logins continue when nodes they depend on are killed."""

import contextlib
import time

import pytest
from lib.cluster import Cluster
from pymongo.errors import AutoReconnect, PyMongoError

from cluster.asking import BOUND, FORBIDDEN, PASSWORD, WRONG, AskingNode, Logins, code_of, until_all

SHARDS = 3
DATABASES = [f"db{number}" for number in range(8)]
#: Seconds within which logins succeed again after the owner of shard 0 was killed.
AGAIN = 15.0


@pytest.fixture(scope="module")
def cluster():
    """A cluster in which each node owns one shard."""
    with Cluster([AskingNode] * 3, shards=SHARDS) as cluster:
        cluster.until(lambda: len(set(owners(cluster.nodes[0]))) == SHARDS, "a node owns nothing")
        for name in DATABASES:
            cluster.nodes[0].client[name]["c"].insert_one({"_id": 1})
        yield cluster


def owners(node):
    return [shard["owner"] for shard in node.about()["shards"]]


@pytest.fixture
def root(cluster):
    return cluster.whole().client


@pytest.fixture
def ann(cluster, root):
    """Yields the name of a user who may read everything."""
    root.admin.command("createUser", "ann", pwd=PASSWORD, roles=["readAnyDatabase"])
    yield "ann"
    # The previously used node may have been restarted.
    admin = cluster.whole().client.admin
    if admin.command("usersInfo", "ann")["users"]:
        admin.command("dropUser", "ann")


def test_one_first_user_is_made_however_many_nodes_start(root):
    users = root.admin.command("usersInfo", {"forAllDBs": True})["users"]
    assert [user["_id"] for user in users] == ["admin.root"]


def test_a_user_is_the_same_at_all_nodes_and_for_all_databases(cluster, ann):
    for node in cluster.nodes:
        with node.login(ann, PASSWORD) as client:
            for name in DATABASES:
                assert client[name]["c"].find_one() == {"_id": 1}
                status = client[name].command("connectionStatus")["authInfo"]
                assert [user["user"] for user in status["authenticatedUsers"]] == [ann]
                refused = code_of(client[name]["c"].insert_one, {})
                assert refused == FORBIDDEN
            # Commands that this role does not allow, sent to a node that may own none of the data.
            for command in (
                {"createUser": "eve", "pwd": "x", "roles": []},
                {"usersInfo": {"forAllDBs": True}},
                {"currentOp": 1},
                {"killOp": 1, "op": "shard1:1"},
                {"ebbClock": 1, "advanceSeconds": 1},
            ):
                assert code_of(client.admin.command, command) == FORBIDDEN, command
            assert set(DATABASES) <= set(client.list_database_names())
        with node.nobody() as client:
            for name in DATABASES:
                assert code_of(client[name]["c"].find_one) == FORBIDDEN
            assert code_of(client.admin.command, "usersInfo", 1) == FORBIDDEN
        for user, password in ((ann, "wrong"), ("eve", PASSWORD)):
            with node.login(user, password) as client:
                assert code_of(client["db0"]["c"].find_one) == WRONG


def test_both_mechanisms_log_in_at_each_node(cluster, ann):
    for node in cluster.nodes:
        for mechanism in ("SCRAM-SHA-1", "SCRAM-SHA-256"):
            with node.login(ann, PASSWORD, authMechanism=mechanism) as client:
                assert client["db1"]["c"].find_one() == {"_id": 1}


def test_what_is_taken_at_one_node_is_gone_at_all_within_the_bound(cluster, root, ann):
    with contextlib.ExitStack() as open_clients:
        clients = [open_clients.enter_context(node.login(ann, PASSWORD)) for node in cluster.nodes]
        for client in clients:
            assert [client[name]["c"].find_one() for name in DATABASES] == [{"_id": 1}] * 8
        root.admin.command("revokeRolesFromUser", ann, roles=["readAnyDatabase"])
        revoked = until_all(clients, DATABASES, FORBIDDEN)
        root.admin.command("grantRolesToUser", ann, roles=["readAnyDatabase"])
        for client in clients:
            assert [client[name]["c"].find_one() for name in DATABASES] == [{"_id": 1}] * 8
        root.admin.command("dropUser", ann)
        dropped = until_all(clients, DATABASES, FORBIDDEN)
        print(f"revoked after {revoked:.3f} s, dropped after {dropped:.3f} s, bound {BOUND} s")
    for node in cluster.nodes:
        with node.login(ann, PASSWORD) as client:
            assert code_of(client["db0"]["c"].find_one) == WRONG


def test_the_admin_address_of_each_node_has_the_users(cluster, ann):
    assert len({node.key() for node in cluster.nodes}) == 1
    for node in cluster.nodes:
        users = {user["user"] for user in node.admin("/_ebb/users")["users"]}
        assert users == {"root", ann}
        made = {"user": "bob", "password": PASSWORD, "roles": [{"role": "read", "db": "db0"}]}
        node.admin("/_ebb/users", made)
        with node.login("bob", PASSWORD) as client:
            assert client["db0"]["c"].find_one() == {"_id": 1}
            assert code_of(client["db1"]["c"].find_one) == FORBIDDEN
            client.admin.command("connectionStatus")
        cluster.nodes[0].client.admin.command("dropUser", "bob")


def test_logins_go_on_when_the_owner_of_the_first_shard_is_killed(cluster, ann):
    owner = first_owner(cluster)
    rest = [node for node in cluster.nodes if node is not owner]
    # Databases of the shards whose owners stay.
    with rest[0].login(ann, PASSWORD) as before:
        near = [name for name in DATABASES if is_near(before, name)]
        logins = [Logins(node, ann, near) for node in rest]
        for login in logins:
            login.start()
        time.sleep(1)
        owner.kill()
        killed, longest = time.monotonic(), 0.0
        while time.monotonic() - killed < AGAIN and first_owner(cluster, owner) is None:
            began = time.monotonic()
            with contextlib.suppress(AutoReconnect):
                before[near[0]]["c"].find_one()
            longest = max(longest, time.monotonic() - began)
        done = [login.done for login in logins]
        cluster.until(
            lambda: all(login.done > count for login, count in zip(logins, done, strict=True)),
            "nobody logs in",
            within=2 * AGAIN,
        )
        for login in logins:
            login.ends = True
            login.join(20)
            assert not login.wrong, login.wrong
        print(
            f"{sum(login.done for login in logins)} logins, the longest time without one "
            f"{max(login.longest for login in logins):.2f} s; a read of before took {longest:.2f} s"
        )
    owner.start()
    cluster.whole()


def first_owner(cluster, but=None):
    """Returns the owner of shard 0 according to any of the nodes; None without an owner."""
    for node in cluster.serving():
        try:
            [name, *_] = owners(node)
        except (OSError, ValueError):
            continue
        found = [it for it in cluster.serving() if it.name == name and it is not but]
        if found:
            return found[0]
    return None


def is_near(client, name):
    """Returns whether a database can be read."""
    try:
        return client[name]["c"].find_one() == {"_id": 1}
    except PyMongoError:
        return False
