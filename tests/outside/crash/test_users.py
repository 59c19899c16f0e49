"""SIGKILL among clients that create, change and remove users and roles: acknowledged changes are
present, others are complete or absent (also a removal that concerns several of them), no user has
more rights than the ledger allows, no removed user reappears, and no old password works.

ROUNDS is the number of kills (default 8; 300 with --torture), SEED seeds them.
"""

import os
import random
import time

from access.guarded import Guarded
from lib.seed import SEED, TORTURE

from crash.accounts import COLLECTIONS, Accounts, Book, User
from crash.administrator import COMMON, SHARED, Administrator
from crash.clients import wait

ROUNDS = int(os.environ.get("ROUNDS", 300 if TORTURE else 8))
CLIENTS = 5
#: `ebb verify` checks the directory after each such number of rounds.
VERIFIED = 10


def make(server, clients):
    """Creates the privileges' collections, the shared user, and a role for each client."""
    with server.root() as root:
        for client in clients:
            for name in COLLECTIONS:
                root.ok(client.database, {"create": name})
            body = {"createRole": f"of{client.number}", "privileges": [], "roles": []}
            root.ok(SHARED, body)
        root.ok(SHARED, {"createUser": COMMON, "pwd": "pw", "roles": []})


def compare(server, clients):
    """Returns all errors after a start, and the number of logins that were tried."""
    wrong, logins = [], 0
    with server.root() as root:
        everybody = root.ok("admin", {"usersInfo": {"forAllDBs": True}})["users"]
        known = {"admin", SHARED, *(client.database for client in clients)}
        wrong += [f"nobody made {it['_id']}" for it in everybody if it["db"] not in known]
        [common] = root.ok(SHARED, {"usersInfo": COMMON})["users"]
        for client in clients:
            told, tried = client.compare(root, common["roles"])
            wrong, logins = wrong + told, logins + tried
    return wrong, logins


def test_users_and_roles(report):
    rng, logins, slowest = random.Random(f"{SEED} users"), 0, 0.0
    clients = [Administrator(number, SEED) for number in range(CLIENTS)]
    with Guarded(data_dir=True, clock="system") as server:
        make(server, clients)
        for round in range(ROUNDS):
            for client in clients:
                client.attach(server)
            time.sleep(rng.uniform(0.1, 0.8))
            server.kill()
            wrong = wait(clients)
            if round % VERIFIED == 0:
                server.sound()
            began = time.monotonic()
            server.start()
            slowest = max(slowest, time.monotonic() - began)
            told, tried = compare(server, clients)
            wrong, logins = wrong + told, logins + tried
            assert wrong == [], f"SEED={SEED}, round {round}: " + "\n".join(wrong[:10])
        server.end()
    acknowledged = sum(client.book.acknowledged for client in clients)
    report(
        "F1",
        ROUNDS,
        "kills among changes of users and roles",
        seed=SEED,
        acknowledged=acknowledged,
        logins_tried=logins,
        logins_meanwhile=sum(client.probes for client in clients),
        slowest_start=f"{slowest:.2f} s",
    )
    assert acknowledged > 5 * ROUNDS, "hardly any change"
    assert logins > ROUNDS, "hardly any login"


def test_of_checks_accounts():
    """The ledger detects a loss, a reappearance, half of a change, and an old password that works
    again."""
    book = Book()
    before = Accounts().put_role("role0", rights=frozenset({("c0", "find")}))
    before = before.put_user("user0", password="old", roles=frozenset({"role0"}))
    after = before.put_user("user0", password="new", roles=frozenset(), number=3)
    book.states = [before, after]
    half = before.put_user("user0", number=3)
    for odd in (half, before.without_user("user0"), before.put_user("user1", password="x")):
        assert book.settle(odd.shown(), None) != []
    assert book.settle(after.shown(), None) == []
    assert book.former == {"user0": ["old"]}
    assert book.settle(before.shown(), None) != []
    # Half of a removal: the role is taken from its users, but still exists.
    book.states = [before, before.without_roles(["role0"])]
    assert book.settle(before.put_user("user0", roles=frozenset()).shown(), None) != []
    # Only the password differs: exactly one of both works.
    other = after.put_user("user0", password="newer")
    for good, wanted in (({"new", "newer"}, False), (set(), False), ({"new"}, True)):
        book.states = [after, other]
        said = book.settle(after.shown(), lambda name, password, good=good: password in good)
        assert (said == []) == wanted, (good, said)
    assert book.now.users["user0"] == User("new", frozenset(), 3)
    assert book.now.rights("user0") == set() and before.rights("user0") == {("c0", "find")}
