"""Password guessing at both APIs: a hundred thousand wrong logins and wrong signatures do not
succeed and do not delay other clients, and reply times do not reveal which users exist.

One address may guess a hundred times before it is delayed, so the guesses come from many. GUESSES
is the number of wrong logins (default 2,000; 100,000 with --torture).
"""

import base64
import itertools
import os
import random
import secrets
import statistics
import threading
import time

import pytest
from access.connection import Connection
from access.guarded import Guarded
from access.scram import MECHANISMS, Exchange, attributes
from lib.nosql import Client
from lib.seed import SEED, TORTURE
from lib.server import Server

from floods.welch import SIGNIFICANT, by_part, largest

GUESSES = int(os.environ.get("GUESSES", 100_000 if TORTURE else 2_000))
THREADS = 4
#: Users whose reply times are measured; guesses at each before it is delayed. 480 ends of logins of
#: each kind detect 100 microseconds at a deviation of up to 340; 1,920 detect 25 at up to 170.
USERS, FREE = 240 if TORTURE else 60, 8
#: Guesses per address and connection, two messages each: fewer than are delayed.
OF_ONE = 30
#: Guesses per second of a thread.
PACE = 150
SOURCES = itertools.count(256)
FAILED = 18
#: Microseconds that network jitter hides; the ordinary run has fewer samples.
HIDDEN = 25 if TORTURE else 100
#: Value of t below which a difference may be chance: on a busy machine single answers take long.
CHANCE = 4.5


@pytest.fixture(scope="module")
def server():
    with Guarded() as server:
        yield server


def elsewhere(server):
    """Returns a connection from a local address that has not guessed yet."""
    number = next(SOURCES)
    source = f"127.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"
    return Connection(server.address, source=source)


def proof(exchange, said, rng):
    """Returns a final message with a wrong proof of the right size; computing a real one would take
    the client a hundred times as long."""
    size = 20 if exchange.mechanism == "SCRAM-SHA-1" else 32
    binding = base64.b64encode(exchange.header.encode()).decode()
    guess = base64.b64encode(rng.randbytes(size)).decode()
    return f"c={binding},r={attributes(said)['r']},p={guess}".encode()


def guess(connection, user, rng, mechanism):
    """Makes a wrong login; returns the times of its two replies in seconds."""
    exchange = Exchange(user, "", mechanism, nonce=secrets.token_urlsafe(24))
    began = time.perf_counter()
    reply = connection.begin(exchange)
    begun = time.perf_counter()
    assert reply["ok"] == 1, reply
    last = proof(exchange, reply["payload"], rng)
    sent = time.perf_counter()
    reply = connection.go_on(reply["conversationId"], last)
    took = time.perf_counter() - sent
    assert (reply["ok"], reply["code"]) == (0, FAILED), reply
    return begun - began, took


def apart(known, unknown):
    """Returns by how many microseconds replies about known users are slower, at the median."""
    return (statistics.median(known) - statistics.median(unknown)) * 1e6


def test_wrong_logins(server, report):
    """Each thread guesses at its own users, existing and missing ones, with all mechanisms."""
    known = [server.new_user([]) for _ in range(THREADS)]
    wrong, counts = [], [0] * THREADS

    def work(number):
        rng = random.Random(f"{SEED} {number}")
        try:
            while counts[number] < GUESSES // THREADS:
                if counts[number] % OF_ONE == 0:
                    connection = elsewhere(server)
                # More guesses at one user would be delayed, which another test checks.
                few = counts[number] < FREE
                user = known[number] if few else f"nobody{number}-{counts[number]}"
                guess(connection, user, rng, rng.choice(MECHANISMS))
                counts[number] += 1
                time.sleep(max(0.0, began + counts[number] / PACE - time.monotonic()))
                if counts[number] % OF_ONE == 0:
                    assert connection.who() == []
                    connection.close()
        except (AssertionError, OSError, KeyError) as problem:
            wrong.append(repr(problem))

    before, began = server.rss(), time.monotonic()
    threads = [threading.Thread(target=work, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    longest = 0.0
    while any(thread.is_alive() for thread in threads):
        asked = time.monotonic()
        with server.root() as root:
            root.ok("admin", {"ping": 1})
        longest = max(longest, time.monotonic() - asked)
        time.sleep(0.2)
    took, grown = time.monotonic() - began, server.rss() - before
    assert wrong == []
    for user in known:
        server.login(user)
    report(
        "F19",
        sum(counts),
        "wrong logins",
        a_second=f"{sum(counts) / took:.0f}",
        longest_right_login=f"{longest:.1f} s",
        memory=f"+{grown >> 20} MiB",
    )
    assert longest < 5, "who knows the password waits for those who guess"
    assert grown < 64 << 20, f"{grown >> 20} MiB are held of guesses"


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_times_tell_no_users(server, mechanism, report):
    """Starts and ends of logins of existing users, and of as many missing ones, in random order.
    The differences are less than network jitter hides; Welch's t is reported."""
    rng = random.Random(SEED)
    known = [server.new_user([]) for _ in range(USERS)]
    unknown = [f"nser{name.removeprefix('user')}" for name in known]
    order = [(user, user in set(known)) for user in [*known, *unknown]] * FREE
    rng.shuffle(order)
    first, last = {True: [], False: []}, {True: [], False: []}
    for at, (user, there) in enumerate(order):
        if at % OF_ONE == 0:
            connection = elsewhere(server)
        begun, ended = guess(connection, user, rng, mechanism)
        first[there].append(begun)
        last[there].append(ended)
    # Only the start of a login is not an attempt: many more of these are measured.
    for number in range(max(0, GUESSES - len(order))):
        there = rng.random() < 0.5
        user = rng.choice(known if there else unknown)
        exchange = Exchange(user, "", mechanism, nonce=secrets.token_urlsafe(24))
        began = time.perf_counter()
        reply = connection.begin(exchange)
        first[there].append(time.perf_counter() - began)
        assert reply["ok"] == 1, reply
        if number % OF_ONE == 0:
            connection.close()
            connection = elsewhere(server)
    t_first, t_last = largest(first[True], first[False]), largest(last[True], last[False])
    later = [apart(it[True], it[False]) for it in (first, last)]
    report(
        "F19",
        len(first[True]) + len(first[False]),
        f"times of {mechanism} of known and unknown users",
        seed=SEED,
        t_of_beginnings=f"{t_first:.1f}",
        t_of_ends=f"{t_last:.1f} of {len(order)}",
        known_later_by=f"{later[0]:.1f} and {later[1]:.1f} microseconds",
    )
    for apart_by, t in zip(later, (t_first, t_last), strict=True):
        told = (later, t_first, t_last, by_part(first[True], first[False]))
        assert abs(apart_by) < HIDDEN or abs(t) < CHANCE, told


def test_wrong_signatures(report):
    rng, count = random.Random(SEED), max(200, GUESSES // 10)
    with Server(nosql=True, mongo=False) as server:
        assert server.items.create_database("d").status == 201
        client, statuses = None, set()
        for number in range(count):
            if number % 100 == 0:
                key = base64.b64encode(rng.randbytes(64)).decode()
                client = Client(server.items.address, key)
            statuses.add(client.call("GET", "dbs/d").status)
        assert statuses == {401}
        assert server.items.call("GET", "dbs/d").status == 200
    report("F19", count, "requests signed with wrong keys")


def test_of_checks_times():
    """A difference of a tenth is detected, and a few slow samples are not one."""
    rng = random.Random(1)
    quick = [rng.gauss(100, 20) for _ in range(5_000)]
    same = [rng.gauss(100, 20) for _ in range(5_000)]
    slow = [rng.gauss(110, 20) for _ in range(5_000)]
    assert abs(largest(quick, same)) < SIGNIFICANT
    assert abs(largest(quick, slow)) > SIGNIFICANT
    disturbed = [it + (10_000 if number % 1_000 == 0 else 0) for number, it in enumerate(same)]
    assert abs(largest(quick, disturbed)) < SIGNIFICANT
