"""A connection that logs in step by step, and checks whether commands are authorized."""

from badinput import wire
from badinput.wire import msg

from access.scram import Exchange

#: Limit of the time of a reply in seconds: a login is delayed after wrong passwords.
PATIENT = 30.0
UNAUTHORIZED, FAILED = 13, 18


class Connection(wire.Wire):
    """One client. A command is a dictionary whose first key is its name."""

    def ask_for(self, database, body):
        """Runs a command; returns its reply, success or error."""
        reply = self.ask(msg([*body.items(), ("$db", database)]), PATIENT)
        assert reply is not None, f"closed after {next(iter(body))}"
        return reply

    def ok(self, database, body):
        """Runs a command that has to be authorized and to succeed."""
        reply = self.ask_for(database, body)
        assert reply["ok"] == 1, f"{body}: {reply}"
        assert not reply.get("writeErrors"), f"{body}: {reply}"
        return reply

    def refused(self, code, database, body):
        """Runs a command that has to fail with this code; returns the message."""
        reply = self.ask_for(database, body)
        assert (reply["ok"], reply.get("code")) == (0, code), f"{body}: {reply}"
        return reply["errmsg"]

    def forbidden(self, database, body):
        """Runs a command that must not be authorized."""
        text = self.refused(UNAUTHORIZED, database, body)
        name = next(iter(body))
        assert text.startswith("not authorized"), f"{name}: {text}"
        return text

    # Logging in.

    def begin(self, exchange, database="admin", skip=True):
        """Sends the first message; returns the reply."""
        body = {"saslStart": 1, "mechanism": exchange.mechanism, "payload": exchange.first()}
        if skip is not None:
            body["options"] = {"skipEmptyExchange": skip}
        return self.ask_for(database, body)

    def go_on(self, conversation, payload, database="admin"):
        """Sends another message of a login; returns the reply."""
        body = {"saslContinue": 1, "conversationId": conversation, "payload": payload}
        return self.ask_for(database, body)

    def try_login(self, user, password="pw", database="admin", mechanism="SCRAM-SHA-256"):
        """Logs in; returns the last reply."""
        exchange = Exchange(user, password, mechanism)
        reply = self.begin(exchange, database)
        if reply["ok"] != 1:
            return reply
        assert not reply["done"]
        reply = self.go_on(reply["conversationId"], exchange.final(reply["payload"]), database)
        if reply["ok"] == 1:
            exchange.check(reply["payload"])
        return reply

    def login(self, user, password="pw", database="admin", mechanism="SCRAM-SHA-256"):
        """Logs in, which has to succeed; returns the connection."""
        reply = self.try_login(user, password, database, mechanism)
        assert reply["ok"] == 1 and reply["done"], reply
        return self

    def fails_to_login(self, user, password="pw", database="admin", mechanism="SCRAM-SHA-256"):
        """Tries to log in, which has to fail without a reason."""
        reply = self.try_login(user, password, database, mechanism)
        got = reply["ok"], reply.get("code"), reply.get("errmsg")
        assert got == (0, FAILED, "Authentication failed."), reply
        assert reply["codeName"] == "AuthenticationFailed"

    def who(self):
        """Returns the users who are logged in, as (name, database)."""
        info = self.ok("admin", {"connectionStatus": 1})["authInfo"]
        return [(user["user"], user["db"]) for user in info["authenticatedUsers"]]
