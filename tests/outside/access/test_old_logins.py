"""Logins in OP_QUERY, as sent by drivers older than MongoDB 3.6: mixed with other commands, in
parts, truncated, and of users who may not log in."""

import pytest
from badinput.raw import Raw, document
from badinput.wire import OP_QUERY, frame, op_query

from access.connection import PATIENT, Connection
from access.scram import MECHANISMS, Exchange

ELSEWHERE = [{"clientSource": ["192.0.2.0/24"]}]
#: Error codes: no SASL session; the message format is too old for the command.
NO_SESSION, TOO_OLD = 17, 352


def start(exchange, **more):
    return {
        "saslStart": 1,
        "mechanism": exchange.mechanism,
        "payload": exchange.first(),
        "options": {"skipEmptyExchange": True},
        **more,
    }


def go_on(exchange, begun):
    final = exchange.final(begun["payload"])
    return {"saslContinue": 1, "conversationId": begun["conversationId"], "payload": final}


class Old(Connection):
    """One client that sends commands before a login in OP_QUERY."""

    def old(self, body, database="admin", **numbers):
        """Runs a command in an OP_QUERY; returns its reply, success or error."""
        reply = self.ask(op_query(f"{database}.$cmd", body, **numbers), PATIENT)
        assert reply is not None, f"closed after {next(iter(body))}"
        return reply

    def old_login(self, user, password="pw", mechanism="SCRAM-SHA-256"):
        """Logs in; returns the last reply."""
        exchange = Exchange(user, password, mechanism)
        begun = self.old(start(exchange))
        if begun["ok"] != 1:
            return begun
        reply = self.old(go_on(exchange, begun))
        if reply["ok"] == 1:
            exchange.check(reply["payload"])
        return reply


@pytest.fixture(scope="module")
def user(server):
    return server.new_user(["root"])


@pytest.fixture
def connection(server, user):
    """A connection without a login at the end of a test, on which a login then succeeds."""
    with Old(server.address) as connection:
        yield connection
        assert connection.who() == []
        connection.refused(13, "admin", {"serverStatus": 1})
        assert connection.old_login(user)["done"] is True
        connection.ok("admin", {"serverStatus": 1})


@pytest.fixture
def other(server):
    """A connection that is not checked at the end of a test."""
    with Old(server.address) as other:
        yield other


def failed(reply, *codes):
    assert reply["ok"] == 0 and reply.get("code") in (codes or (18,)), reply
    return reply


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_login(other, user, mechanism):
    reply = other.old_login(user, mechanism=mechanism)
    assert (reply["ok"], reply["done"]) == (1, True)
    assert other.who() == [(user, "admin")]


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_wrong_password(connection, user, mechanism):
    failed(connection.old_login(user, "wrong", mechanism))
    failed(connection.old_login("nobody", "pw", mechanism))


def test_both_messages_may_have_either_form(server, user):
    for begins_old, ends_old in ((True, False), (False, True)):
        with Old(server.address) as connection:
            exchange = Exchange(user, "pw")
            begun = connection.old(start(exchange)) if begins_old else connection.begin(exchange)
            body = go_on(exchange, begun)
            reply = connection.old(body) if ends_old else connection.ask_for("admin", body)
            assert reply["done"] is True and connection.who() == [(user, "admin")]


def test_a_wrapped_login(other, user):
    """The form with a read preference, which old shells sent."""
    exchange = Exchange(user, "pw")
    begun = other.old({"$query": start(exchange), "$readPreference": {"mode": "primary"}})
    assert other.old({"query": go_on(exchange, begun)})["done"] is True


def test_other_commands_in_the_middle(other, user):
    exchange = Exchange(user, "pw")
    begun = other.old(start(exchange))
    assert other.old({"isMaster": 1})["ok"] == 1
    assert other.old({"buildInfo": 1})["ok"] == 1
    for body in ({"ping": 1}, {"find": "c"}, {"insert": "c", "documents": [{"_id": 1}]}):
        failed(other.old(body), TOO_OLD)
    failed(other.old({"dropUser": user}), TOO_OLD)
    other.ok("admin", {"ping": 1})
    other.refused(13, "admin", {"serverStatus": 1})
    assert other.who() == []
    assert other.old(go_on(exchange, begun))["done"] is True
    # The login does not change which commands OP_QUERY may contain.
    failed(other.old({"serverStatus": 1}), TOO_OLD)


def test_a_second_beginning_ends_the_first(connection, user):
    first, second = Exchange(user, "pw"), Exchange("nobody", "pw")
    begun = connection.old(start(first))
    connection.old(start(second))
    failed(connection.old(go_on(first, begun)), NO_SESSION)
    # Starting in the other form ends the first login too.
    begun = connection.old(start(first))
    connection.begin(second)
    failed(connection.old(go_on(first, begun)), NO_SESSION)


def test_another_mechanism_ends_a_login(connection, user):
    exchange = Exchange(user, "pw")
    begun = connection.old(start(exchange))
    body = {"authenticate": 1, "mechanism": "MONGODB-X509"}
    failed(connection.old(body, "$external"), 18, 334)
    failed(connection.old(go_on(exchange, begun)), NO_SESSION)


def test_an_end_without_a_beginning(connection, user):
    body = {"saslContinue": 1, "conversationId": 1, "payload": b"c=biws,r=a,p=AAAA"}
    failed(connection.old(body), NO_SESSION)


def test_an_end_on_another_connection(connection, other, user):
    exchange = Exchange(user, "pw")
    begun = connection.old(start(exchange))
    failed(other.old(go_on(exchange, begun)), NO_SESSION)
    assert other.who() == []


def test_an_end_of_another_database(connection, user):
    """The database of a message determines whose user it is."""
    exchange = Exchange(user, "pw")
    begun = connection.old(start(exchange), "elsewhere")
    failed(connection.old(go_on(exchange, begun), "elsewhere"))


def test_a_login_in_parts(server, other, user):
    """Each byte is sent separately, with a whole login on another connection in between."""
    exchange = Exchange(user, "pw")
    message = op_query("admin.$cmd", start(exchange))
    for at in range(len(message)):
        other.send(message[at : at + 1])
        if at in (3, 15, 16, 19, 30, len(message) - 2):
            server.login(user).ok("admin", {"serverStatus": 1})
    begun = other.reply(PATIENT)
    message = op_query("admin.$cmd", go_on(exchange, begun))
    half = len(message) // 2
    other.send(message[:half])
    server.login(user)
    other.send(message[half:])
    assert other.reply(PATIENT)["done"] is True and other.who() == [(user, "admin")]


@pytest.mark.parametrize("cut", [1, 15, 16, 20, 31, 40, -1])
def test_a_login_that_is_cut_off(server, user, cut):
    with Old(server.address) as connection:
        exchange = Exchange(user, "pw")
        begun = connection.old(start(exchange))
        connection.send(op_query("admin.$cmd", go_on(exchange, begun))[:cut])
    # The conversation ended with its connection.
    with Old(server.address) as connection:
        failed(connection.old(go_on(exchange, begun)), NO_SESSION)


def test_messages_behind_each_other(other, user):
    """Commands that are sent before the login has completed do not run with its rights."""
    exchange = Exchange(user, "pw")
    begun = other.old(start(exchange))
    status = op_query("admin.$cmd", {"serverStatus": 1})
    end = op_query("admin.$cmd", go_on(exchange, begun))
    again = op_query("admin.$cmd", go_on(exchange, begun))
    other.send(status + end + again + op_query("admin.$cmd", {"isMaster": 1}))
    replies = [other.reply(PATIENT) for _ in range(4)]
    assert [reply.get("code") for reply in replies] == [TOO_OLD, None, NO_SESSION, None]
    assert replies[1]["done"] is True and other.who() == [(user, "admin")]


def test_odd_numbers_and_a_second_document(other, user):
    """Skip, limit and the former projection are ignored."""
    exchange = Exchange(user, "pw")
    for skip, limit in ((0, 0), (-1, 5), (2**31 - 1, -(2**31))):
        assert other.old(start(exchange), skip=skip, limit=limit)["ok"] == 1
    begun = other.old(start(exchange))
    message = op_query("admin.$cmd", go_on(exchange, begun))[16:]
    reply = other.ask(frame(OP_QUERY, message + document({"x": 1})), PATIENT)
    assert reply["done"] is True


@pytest.mark.parametrize(
    ("namespace", "code"),
    [(".$cmd", 73), ("a b.$cmd", 73), ("x" * 300 + ".$cmd", 73), ("admin.c", None), ("", None)],
)
def test_a_database_that_cannot_be(server, user, namespace, code):
    with Old(server.address) as connection:
        reply = connection.ask(op_query(namespace, start(Exchange(user, "pw"))), PATIENT)
        assert (reply and reply["code"]) == code
        if code:
            assert connection.who() == []


def test_arguments_that_are_wrong(connection):
    good = start(Exchange("x", "pw"))
    for more, codes in (
        ({"mechanism": "PLAIN"}, (334,)),
        ({"mechanism": 1}, (14,)),
        ({"payload": 1}, (14,)),
        ({"payload": b"\0" * 1000}, (18,)),
        ({"payload": b""}, (18,)),
        ({"options": 1}, (14,)),
        ({"unknown": 1}, (40415,)),
    ):
        failed(connection.old({**good, **more}), *codes)
    for wrong in (0, "1", None, 1.5):
        begun = connection.old(good)
        body = {"saslContinue": 1, "conversationId": wrong, "payload": b""}
        failed(connection.old(body), 14, 17)
        failed(connection.old({**body, "conversationId": begun["conversationId"]}), 17, 18)


def test_a_body_that_is_no_document_ends_the_connection(server, user):
    broken = Raw(3, b"\x05\0\0\0\x01")
    for body in ({"saslStart": 1, "x": broken}, {"saslContinue": 1, "conversationId": broken}):
        with Old(server.address) as connection:
            assert connection.ask(op_query("admin.$cmd", body), PATIENT) is None
    server.login(user)


def test_a_user_of_another_address(server, connection, root):
    banned = server.new_user(["root"], authenticationRestrictions=ELSEWHERE)
    for mechanism in MECHANISMS:
        reply = failed(connection.old_login(banned, mechanism=mechanism))
        assert reply["errmsg"] == "Authentication failed."


@pytest.mark.parametrize("change", ["dropped", "restricted", "new password"])
def test_a_user_who_is_banned_in_the_middle(server, connection, root, change):
    """The state of the user at the end of the login counts."""
    name = server.new_user(["root"])
    exchange = Exchange(name, "pw")
    begun = connection.old(start(exchange))
    match change:
        case "dropped":
            root.ok("admin", {"dropUser": name})
        case "restricted":
            root.ok("admin", {"updateUser": name, "authenticationRestrictions": ELSEWHERE})
        case "new password":
            root.ok("admin", {"updateUser": name, "pwd": "new"})
    reply = failed(connection.old(go_on(exchange, begun)))
    assert reply["errmsg"] == "Authentication failed."


def test_wrong_passwords_count_in_either_form(server, connection):
    """Wrong passwords in either form count together for the delay."""
    name = server.new_user([])
    for _ in range(4):
        failed(connection.old_login(name, "wrong"))
        connection.fails_to_login(name, "wrong")
    with Old(server.address) as other:
        assert other.old_login(name)["done"] is True
