"""Messages of a login that are out of order, repeated, of another login or malformed: none of them
logs in, each gets an error, and the next login on the connection succeeds."""

import base64

import bson
import pytest
from badinput.wire import msg

from access.guarded import new_name
from access.scram import MECHANISMS, Exchange, attributes

NO_SESSION = "No SASL session state found"


@pytest.fixture(scope="module")
def user(server):
    """A user for all tests here; tests that send wrong passwords use another."""
    return server.new_user(["root"])


@pytest.fixture
def connection(server, user):
    """A connection without a login at the end of a test, on which a correct one then succeeds."""
    connection = server.connection()
    yield connection
    connection.refused(13, "admin", {"serverStatus": 1})
    connection.login(user).ok("admin", {"serverStatus": 1})


def failed(reply, *codes):
    assert reply["ok"] == 0 and reply.get("code") in (codes or (18,)), reply
    return reply


def test_without_skip_empty_exchange_an_empty_message_ends_it(server, user):
    for mechanism in MECHANISMS:
        for skip in (None, False):
            connection = server.connection()
            exchange = Exchange(user, "pw", mechanism)
            begun = connection.begin(exchange, skip=skip)
            number = begun["conversationId"]
            reply = connection.go_on(number, exchange.final(begun["payload"]))
            exchange.check(reply["payload"])
            assert reply["ok"] == 1 and reply["done"] is False
            assert connection.who() == []
            connection.refused(13, "admin", {"serverStatus": 1})
            reply = connection.go_on(number, b"")
            assert (reply["ok"], reply["done"], bytes(reply["payload"])) == (1, True, b"")
            assert connection.who() == [(user, "admin")]


def test_something_in_the_empty_message_ends_it(connection, user):
    exchange = Exchange(user, "pw")
    begun = connection.begin(exchange, skip=False)
    number = begun["conversationId"]
    assert connection.go_on(number, exchange.final(begun["payload"]))["ok"] == 1
    failed(connection.go_on(number, b"x"))
    failed(connection.go_on(number, b""), 17)


@pytest.mark.parametrize("name", ["hello", "isMaster"])
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_login_that_begins_in_the_handshake(server, user, name, mechanism):
    connection = server.connection()
    exchange = Exchange(user, "pw", mechanism)
    start = {
        "saslStart": 1,
        "mechanism": mechanism,
        "payload": exchange.first(),
        "options": {"skipEmptyExchange": True},
        "db": "admin",
    }
    body = {name: 1, "saslSupportedMechs": f"admin.{user}", "speculativeAuthenticate": start}
    reply = connection.ok("admin", body)
    assert sorted(reply["saslSupportedMechs"]) == sorted(MECHANISMS)
    begun = reply["speculativeAuthenticate"]
    assert connection.who() == []
    reply = connection.go_on(begun["conversationId"], exchange.final(begun["payload"]))
    exchange.check(reply["payload"])
    assert reply["done"] and connection.who() == [(user, "admin")]


def test_what_cannot_begin_in_a_handshake_is_left_out(connection):
    good = Exchange("x", "pw").first()
    for start in (
        {},
        {"saslStart": 1},
        {"saslStart": 1, "mechanism": "PLAIN", "payload": good, "db": "admin"},
        {"saslStart": 1, "mechanism": "SCRAM-SHA-256", "payload": b"junk", "db": "admin"},
        {"saslContinue": 1, "conversationId": 1, "payload": b""},
        {"authenticate": 1, "mechanism": "MONGODB-X509", "db": "$external"},
        {"dropDatabase": 1, "db": "admin"},
    ):
        reply = connection.ok("admin", {"hello": 1, "speculativeAuthenticate": start})
        assert "speculativeAuthenticate" not in reply, start


def test_a_mechanism_that_the_user_has_not_does_not_begin_in_a_handshake(server):
    """Drivers start with one mechanism before they know which the user has, and continue with it if
    the handshake replies that it has started."""
    for own, other in (MECHANISMS, MECHANISMS[::-1]):
        name = server.new_user([], mechanisms=[own])
        for mechanism in (own, other):
            start = {
                "saslStart": 1,
                "mechanism": mechanism,
                "payload": Exchange(name, "pw").first(),
                "db": "admin",
            }
            asked = {"saslSupportedMechs": f"admin.{name}", "speculativeAuthenticate": start}
            reply = server.connection().ok("admin", {"hello": 1, **asked})
            assert reply["saslSupportedMechs"] == [own]
            assert ("speculativeAuthenticate" in reply) == (mechanism == own)


def salt_of(server, user, mechanism="SCRAM-SHA-256", database="admin"):
    """Returns the salt and the iteration count of a user."""
    begun = server.connection().begin(Exchange(user, "x", mechanism), database)
    said = attributes(begun["payload"])
    return said["s"], said["i"]


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_users_who_do_not_exist_have_salts_too(server, user, mechanism):
    real, turns = salt_of(server, user, mechanism)
    fake = salt_of(server, "nobody", mechanism)
    assert fake == salt_of(server, "nobody", mechanism)
    assert (len(fake[0]), fake[1]) == (len(real), turns)
    others = [("nobody else", "admin"), ("nobody", "elsewhere")]
    assert fake not in [salt_of(server, name, mechanism, at) for name, at in others]


def test_another_conversation(connection, user):
    exchange = Exchange(user, "pw")
    begun = connection.begin(exchange)
    number, final = begun["conversationId"], exchange.final(begun["payload"])
    failed(connection.go_on(number + 1, final), 17)
    for wrong in (-number, 0, "1", None, 1.5, bson.Int64(2**40)):
        begun = connection.begin(exchange)
        final = exchange.final(begun["payload"])
        failed(connection.go_on(wrong, final), 14, 17)
        # The conversation has ended.
        failed(connection.go_on(begun["conversationId"], final), 17)


def test_going_on_without_a_beginning(connection):
    reply = failed(connection.go_on(1, b"c=biws,r=abc,p=AAAA"), 17)
    assert reply["errmsg"] == NO_SESSION


def test_a_conversation_of_another_connection(server, connection, user):
    exchange = Exchange(user, "pw")
    begun = connection.begin(exchange)
    other = server.connection()
    failed(other.go_on(begun["conversationId"], exchange.final(begun["payload"])), 17)
    assert other.who() == []


def test_a_thousand_beginnings(connection, server, user):
    before = server.rss()
    numbers = {
        connection.begin(Exchange(f"{user}{number}", "pw"))["conversationId"]
        for number in range(500)
    }
    numbers |= {connection.begin(Exchange(user, "pw"))["conversationId"] for _ in range(500)}
    assert len(numbers) == 1000
    assert server.rss() < before + 32 * 1024 * 1024
    # Only the most recent conversation can be completed.
    first, last = Exchange(user, "pw"), Exchange(user, "pw")
    begun = connection.begin(first)
    connection.begin(last)
    failed(connection.go_on(begun["conversationId"], first.final(begun["payload"])), 17)


def test_a_proof_that_is_sent_again(server, connection, user):
    """Replayed messages of a login, including the client's nonce, do not log in again."""
    exchange = Exchange(user, "pw", nonce="a" * 24)
    other = server.connection()
    begun = other.begin(exchange)
    final = exchange.final(begun["payload"])
    assert other.go_on(begun["conversationId"], final)["done"]
    failed(other.go_on(begun["conversationId"], final), 17)
    again = connection.begin(exchange)
    assert again["payload"] != begun["payload"]
    failed(connection.go_on(again["conversationId"], final))


def test_nonces_are_new_each_time(connection, user):
    seen = {connection.begin(Exchange(user, "pw", nonce="x"))["payload"] for _ in range(50)}
    assert len(seen) == 50
    assert all(it.startswith(b"r=x") and len(it) > 40 for it in seen)


FINALS = {
    "another nonce": lambda it, said: it.final(said, nonce="abc"),
    "only the client's nonce": lambda it, said: it.final(said, nonce=it.nonce),
    "a longer nonce": lambda it, said: it.final(said, nonce=nonce_of(said) + "x"),
    "another binding": lambda it, said: it.final(said, binding="y,,"),
    "a binding that names somebody": lambda it, said: it.final(said, binding="n,a=root,"),
    "truncated": lambda it, said: it.final(said)[:-8],
    "without a proof": lambda it, said: it.final(said).split(b",p=")[0],
    "an empty proof": lambda it, said: it.final(said).split(b",p=")[0] + b",p=",
    "a short proof": lambda it, said: it.final(said).split(b",p=")[0] + b",p=AAAA",
    "a proof of zeros": lambda it, said: with_proof(it, said, bytes(32)),
    "a long proof": lambda it, said: with_proof(it, said, bytes(1000)),
    "a proof that is no base64": lambda it, said: it.final(said).replace(b",p=", b",p=%%"),
    "an extension that must be understood": lambda it, said: b"m=x," + it.final(said),
    "something behind the proof": lambda it, said: it.final(said) + b",x=1",
    "twice": lambda it, said: it.final(said) + b"," + it.final(said),
    "iterations": lambda it, said: it.final(said) + b",i=1",
    "the server's own message": lambda it, said: said,
    "the first message": lambda it, said: it.first(),
    "nothing": lambda it, said: b"",
    "a zero byte": lambda it, said: b"\0",
    "not UTF-8": lambda it, said: b"\xff" * 40,
    "oversized": lambda it, said: b"c=biws,r=" + b"x" * 60_000,
    "commas": lambda it, said: b"," * 5_000,
}


def nonce_of(server_first):
    return server_first.decode().split(",")[0].removeprefix("r=")


def with_proof(exchange, server_first, proof):
    before = exchange.final(server_first).split(b",p=")[0]
    return before + b",p=" + base64.b64encode(proof)


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("wrong", FINALS)
def test_a_last_message_that_is_wrong(server, connection, wrong, mechanism):
    victim = server.new_user(["root"])
    exchange = Exchange(victim, "pw", mechanism)
    begun = connection.begin(exchange)
    failed(connection.go_on(begun["conversationId"], FINALS[wrong](exchange, begun["payload"])))
    # The login has ended: the correct proof comes too late.
    final = exchange.final(begun["payload"])
    failed(connection.go_on(begun["conversationId"], final), 17)


FIRSTS = {
    "nothing": b"",
    "no header": b"n=u,r=abc",
    "channel binding": b"p=tls-unique,,n=u,r=abc",
    "no name": b"n,,r=abc",
    "an empty name": b"n,,n=,r=abc",
    "no nonce": b"n,,n=u",
    "an empty nonce": b"n,,n=u,r=",
    "a nonce with a space": b"n,,n=u,r=a b",
    "somebody else": b"n,a=root,n=u,r=abc",
    "a bad escape": b"n,,n=a=2,r=abc",
    "an extension that must be understood": b"n,,m=x,n=u,r=abc",
    "a zero byte": b"n,,n=u\0,r=abc",
    "not UTF-8": b"n,,n=\xff,r=abc",
    "oversized": b"n,,n=u,r=" + b"x" * 60_000,
    "a long name": b"n,,n=" + b"x" * 60_000 + b",r=abc",
    "junk": bytes(range(256)),
    "the last message": b"c=biws,r=abc,p=AAAA",
}


@pytest.mark.parametrize("wrong", FIRSTS)
def test_a_first_message_that_is_wrong(connection, wrong):
    for mechanism in MECHANISMS:
        body = {"saslStart": 1, "mechanism": mechanism, "payload": FIRSTS[wrong]}
        reply = failed(connection.ask_for("admin", body))
        assert reply["errmsg"] == "Authentication failed."
        failed(connection.go_on(1, b""), 17)


@pytest.mark.parametrize("size", [100_000, 10_000_000])
def test_large_messages_before_a_login(server, user, size):
    """Without a login a client cannot use much memory: the server closes the connection."""
    for where in ("saslStart", "saslContinue"):
        connection, exchange = server.connection(), Exchange(user, "pw")
        body = {"saslStart": 1, "mechanism": exchange.mechanism, "payload": bytes(size)}
        if where == "saslContinue":
            number = connection.begin(exchange)["conversationId"]
            body = {"saslContinue": 1, "conversationId": number, "payload": bytes(size)}
        reply = connection.ask(msg([*body.items(), ("$db", "admin")]), 10.0)
        assert reply is None or reply["ok"] == 0
    inserted = {"insert": "c", "documents": [{"x": "x" * size}]}
    server.login(user).ok("admin", inserted)


def test_payloads_as_text(server, user):
    """Old shells sent base64."""
    connection = server.connection()
    exchange = Exchange(user, "pw")
    body = {"saslStart": 1, "mechanism": "SCRAM-SHA-256"}
    begun = connection.ok("admin", {**body, "payload": base64.b64encode(exchange.first()).decode()})
    said = begun["payload"]
    said = base64.b64decode(said) if isinstance(said, str) else said
    final = base64.b64encode(exchange.final(said)).decode()
    reply = connection.go_on(begun["conversationId"], final)
    assert reply["ok"] == 1
    for broken in ("%%%", "a", "bixsbj11LHI9YWJj=", "ü"):
        failed(server.connection().ask_for("admin", {**body, "payload": broken}), 2, 9, 18)


def test_arguments_that_are_wrong(connection):
    payload = Exchange("x", "pw").first()
    start = {"saslStart": 1, "mechanism": "SCRAM-SHA-256", "payload": payload}
    for more, codes in (
        ({"mechanism": "PLAIN"}, (334,)),
        ({"mechanism": "scram-sha-256"}, (334,)),
        ({"mechanism": ""}, (334,)),
        ({"mechanism": "x" * 60_000}, (334,)),
        ({"mechanism": 1}, (14,)),
        ({"payload": 1}, (14,)),
        ({"payload": {}}, (14,)),
        ({"payload": None}, (14, 40414)),
        ({"options": 1}, (14,)),
        ({"unknown": 1}, (40415,)),
    ):
        reply = connection.ask_for("admin", {**start, **more})
        failed(reply, *codes)
        assert len(reply["errmsg"]) < 1000
    for left_out in ("mechanism", "payload"):
        body = {name: value for name, value in start.items() if name != left_out}
        failed(connection.ask_for("admin", body), 40414, 4)


def test_users_that_a_handshake_cannot_ask_about(connection):
    for asked, codes in ((1, (14,)), ("nodot", (2,)), ({}, (14,))):
        failed(connection.ask_for("admin", {"hello": 1, "saslSupportedMechs": asked}), *codes)
    # Go's driver sends no database if the application did not name one.
    for asked in (f"no.{new_name('nobody')}", ".root", "a b.root", "admin.", "."):
        connection.ok("admin", {"hello": 1, "saslSupportedMechs": asked})


def test_commands_in_the_middle_of_a_login(server, user):
    connection = server.connection()
    exchange = Exchange(user, "pw")
    begun = connection.begin(exchange)
    connection.refused(13, "admin", {"serverStatus": 1})
    connection.ok("admin", {"ping": 1})
    connection.ok("admin", {"hello": 1})
    reply = connection.go_on(begun["conversationId"], exchange.final(begun["payload"]))
    assert reply["done"] and connection.who() == [(user, "admin")]


def test_many_commands_behind_each_other_while_a_login_runs(server, user):
    """Commands that are sent before the login has completed do not run with its rights."""
    connection = server.connection()
    exchange = Exchange(user, "pw")
    begun = connection.begin(exchange)
    body = {
        "saslContinue": 1,
        "conversationId": begun["conversationId"],
        "payload": exchange.final(begun["payload"]),
    }
    status = msg([("serverStatus", 1), ("$db", "admin")])
    connection.send(status + msg([*body.items(), ("$db", "admin")]) + status)
    replies = [connection.reply(30.0) for _ in range(3)]
    assert replies[0]["code"] == 13
    assert [reply["ok"] for reply in replies[1:]] == [1, 1]


def test_logging_in_again(server, user):
    """The same user may log in again; another user replaces the first or is refused."""
    other = server.new_user([])
    connection = server.login(user)
    connection.login(user)
    assert connection.who() == [(user, "admin")]
    reply = connection.try_login(other)
    if reply["ok"] == 1:
        assert connection.who() == [(other, "admin")]
        connection.refused(13, "admin", {"serverStatus": 1})
    else:
        assert connection.who() == [(user, "admin")]
