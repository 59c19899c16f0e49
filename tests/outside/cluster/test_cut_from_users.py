"""A node that owns data but cannot reach the owner of shard 0, which holds the users: it serves
from its cached users for ten seconds, then refuses all requests, and never serves a user longer
than that after a role was revoked."""

import contextlib
import functools
import time
from concurrent.futures import ThreadPoolExecutor

from lib.cluster import Cluster
from lib.island import IslandNode
from pymongo.errors import NotPrimaryError, PyMongoError

from cluster.asking import FORBIDDEN, PASSWORD, AskingNode, code_of

DATABASES = [f"db{number}" for number in range(12)]
#: Seconds for which a node uses its cached users, and allowance for a busy machine.
KNOWN, LATE = 10.0, 4.0
#: Error 91, after which drivers retry.
SHUTTING_DOWN = 91


class AskingIsland(AskingNode, IslandNode):
    """A node that requires authentication, in a network of its own."""


def owners(node):
    return [shard["owner"] for shard in node.about()["shards"]]


def outcome(collection):
    """Returns the error code of a read, None if it succeeds, or "" without a reply."""
    try:
        return code_of(collection.find_one)
    except NotPrimaryError as error:
        return error.details["code"]
    except PyMongoError:
        return ""


def test_what_is_known_of_users_counts_for_ten_seconds():
    with Cluster([AskingIsland] * 3, shards=3) as cluster:
        first, *others = cluster.nodes
        cluster.until(lambda: len(set(owners(first))) == 3, "a node owns nothing")
        island = next(node for node in others if owners(first)[0] != node.name)
        root = first.client
        for name in DATABASES:
            root[name]["c"].insert_one({"_id": 1})
        root.admin.command("createUser", "ann", pwd=PASSWORD, roles=["readAnyDatabase"])
        ann = functools.partial(island.login, "ann", PASSWORD, retryReads=False)
        with contextlib.ExitStack() as opened:
            # A connection each, since a read that waits for its reply would block the others.
            clients = [ann(socketTimeoutMS=3000, maxPoolSize=1) for _ in DATABASES]
            reads = [
                functools.partial(outcome, opened.enter_context(client)[name]["c"])
                for client, name in zip(clients, DATABASES, strict=True)
            ]
            assert {read() for read in reads} == {None}
            island.outward.cut()
            island.inward.cut()
            began = time.monotonic()
            with ThreadPoolExecutor(len(reads)) as pool:
                found = list(pool.map(lambda read: read(), reads))
            assert set(found) == {None, ""}, found
            read = reads[found.index(None)]
            root.admin.command("revokeRolesFromUser", "ann", roles=["readAnyDatabase"])
            seen = []
            while (at := time.monotonic() - began) < KNOWN + LATE + 3:
                seen.append((at, read()))
                time.sleep(0.05)
            served = [at for at, code in seen if code is None]
            print(f"served for {served[-1]:.1f} s")
            assert served[-1] < KNOWN + LATE, "served longer than is known"
            # After this error the driver reconnects, and then waits for a login.
            refused = [code for at, code in seen if served[-1] < at]
            assert refused[0] == SHUTTING_DOWN and set(refused) <= {SHUTTING_DOWN, ""}, refused
            island.mend(drop=True)
            cluster.whole()
            cluster.until(lambda: read() == FORBIDDEN, "what was taken is not known")
        root.admin.command("grantRolesToUser", "ann", roles=["readAnyDatabase"])
        with ann() as client:
            assert {outcome(client[name]["c"]) for name in DATABASES} == {None}
