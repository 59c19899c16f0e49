"""The server under attack and its witness, in the MongoDB API; and the checks of refusals."""

from lib import attacked
from lib.server import Server

from badinput.wire import Wire, msg, timeless

SENTINELS = [{"_id": i, "text": "kept", "n": [i, i + 1]} for i in range(3)]


class AttackedServer(attacked.AttackedServer):
    """The witness checks the documents of one collection, its indexes, and its database."""

    def __init__(self, *flags, **options):
        super().__init__(Server(data_dir=True, flags=flags, **options))

    def settle(self):
        self.witness.run(("insert", "kept"), db="sentinel", documents=SENTINELS)
        key = [{"key": {"n": 1}, "name": "n_1"}]
        self.witness.run(("createIndexes", "kept"), db="sentinel", indexes=key)
        assert b"kept" in self.sentinel()[0]

    def revive(self):
        """Replaces an unusable server, so that later cases are not affected."""
        self.server.kill()
        self.start()
        self.expected = self.sentinel()

    @property
    def address(self):
        return self.server.address

    def wire(self, **options):
        return Wire(self.address, **options)

    def sentinel(self):
        assert self.witness.run(("ping", 1), db="admin")["ok"] == 1
        return self.state(self.witness, "sentinel", "kept")

    def look(self, wire):
        found = wire.run(("find", "kept"), db="sentinel", filter={"_id": 1}, within=30)
        assert found["cursor"]["firstBatch"] == [SENTINELS[1]]

    @staticmethod
    def state(wire, db, collection):
        """Returns a database's documents, indexes and collections as bytes, by one send."""
        asked = [
            [("find", collection), ("sort", {"_id": 1}), ("singleBatch", True), ("$db", db)],
            [("listIndexes", collection), ("$db", db)],
            [("listCollections", 1), ("nameOnly", True), ("$db", db)],
        ]
        wire.send(b"".join(msg(body) for body in asked))
        return [timeless(wire.reply_bytes()) for _ in asked]


def well_formed_error(reply):
    """Checks that an error has the form that clients expect and a specific code; returns it."""
    assert reply["ok"] == 0, reply
    code, name, text = reply.get("code"), reply.get("codeName"), reply.get("errmsg")
    assert isinstance(code, int) and isinstance(name, str) and name, reply
    assert isinstance(text, str) and text, reply
    assert code not in (1, 8), f"an error of no kind: {reply}"
    return code


def refused(reply, *codes):
    """Checks that the reply is an error with one of these codes."""
    assert reply is not None, "closed instead of an error"
    code = well_formed_error(reply)
    assert code in codes, f"code {code} instead of {codes}: {reply}"
    return reply


def ok_or_error(reply):
    """Checks that there is a reply; returns its error code, 0 for none."""
    assert reply is not None, "closed instead of an answer"
    if reply["ok"] == 1:
        for error in reply.get("writeErrors", []):
            assert error["code"] not in (1, 8) and error["errmsg"], error
        return 0
    return well_formed_error(reply)
