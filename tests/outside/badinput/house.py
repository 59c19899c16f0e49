"""The server under attack and the witness: a connection as old as the server, with a document that
nothing may change."""

import contextlib
import threading
import time

from badinput.wire import WITHIN, Wire, msg
from lib.server import Server

#: Resident memory at the end of a module, whatever it was sent.
MOST_MEMORY = 800 << 20
#: Bytes of log of a module: a flood of bad input is no flood of lines.
MOST_LOG = 1 << 20

SENTINELS = [{"_id": i, "text": "kept", "n": [i, i + 1]} for i in range(3)]


class House:
    """A server on a data directory, and its witness."""

    def __init__(self, *flags, **options):
        self.server = Server(data_dir=True, flags=flags, **options)

    def __enter__(self):
        self.start()
        self.witness.run(("insert", "kept"), db="sentinel", documents=SENTINELS)
        key = [{"key": {"n": 1}, "name": "n_1"}]
        self.witness.run(("createIndexes", "kept"), db="sentinel", indexes=key)
        self.expected = self.sentinel()
        assert all(b"kept" in part for part in self.expected[:1])
        return self

    def start(self):
        self.server.start()
        self.pid = self.server.process.pid
        self.witness = self.wire()

    def revive(self):
        """A server that is of no use any more makes way, so that the next case is judged fairly."""
        self.server.kill()
        self.start()
        self.expected = self.sentinel()

    def __exit__(self, *_):
        self.witness.close()
        self.server.close()

    @property
    def address(self):
        return self.server.address

    def wire(self, **options):
        return Wire(self.address, **options)

    def sentinel(self):
        """All that is known of the witness's database, as bytes."""
        return self.state(self.witness, "sentinel", "kept")

    @staticmethod
    def state(wire, db, collection):
        """Documents, indexes and collections of a database, as bytes, asked in one go."""
        asked = [
            [("find", collection), ("sort", {"_id": 1}), ("singleBatch", True), ("$db", db)],
            [("listIndexes", collection), ("$db", db)],
            [("listCollections", 1), ("nameOnly", True), ("$db", db)],
        ]
        wire.send(b"".join(msg(body) for body in asked))
        return [wire.reply_bytes() for _ in asked]

    def health(self):
        """The process is the same and serves the witness at once."""
        began = time.monotonic()
        assert self.server.alive(), f"the server died: {self.log()[-3000:]}"
        assert self.server.process.pid == self.pid
        assert self.witness.run(("ping", 1), db="admin")["ok"] == 1
        assert self.sentinel() == self.expected, "the witness's documents have changed"
        took = time.monotonic() - began
        assert took < WITHIN, f"the witness waited for {took:.2f} s"

    @contextlib.contextmanager
    def undisturbed(self, longest=WITHIN):
        """While the body runs, another client is served without a wait."""
        over, waits, problems = threading.Event(), [0.0], []

        def look():
            try:
                with self.wire() as wire:
                    while not over.wait(0.02):
                        began = time.monotonic()
                        found = wire.run(
                            ("find", "kept"), db="sentinel", filter={"_id": 1}, within=30
                        )
                        assert found["cursor"]["firstBatch"] == [SENTINELS[1]]
                        waits.append(time.monotonic() - began)
            except (AssertionError, OSError) as problem:
                problems.append(problem)

        bystander = threading.Thread(target=look, daemon=True)
        bystander.start()
        try:
            yield
        finally:
            over.set()
            bystander.join(40)
        assert not problems, problems
        assert max(waits) < longest, f"another client waited for {max(waits):.2f} s"

    def log(self):
        return self.server.log.read_text(errors="replace")

    def leave(self):
        """Bounded memory, a quiet log without panics, a clean end, and a directory that is whole."""
        memory = self.server.rss()
        assert memory < MOST_MEMORY, f"{memory >> 20} MiB are held at the end"
        log = self.log()
        assert "panick" not in log, log[-3000:]
        assert len(log) < MOST_LOG, f"{len(log)} bytes of log: {log[:1000]}"
        self.witness.close()
        assert self.server.stop() == 0, self.log()[-2000:]
        verified = self.server.verify()
        assert verified.returncode == 0, verified.stdout + verified.stderr


def well_formed_error(reply):
    """A refusal as MongoDB's clients expect it, by a code that says what was wrong."""
    assert reply["ok"] == 0, reply
    code, name, text = reply.get("code"), reply.get("codeName"), reply.get("errmsg")
    assert isinstance(code, int) and isinstance(name, str) and name, reply
    assert isinstance(text, str) and text, reply
    assert code not in (1, 8), f"an error of no kind: {reply}"
    return code


def refused(reply, *codes):
    """The reply is an error by one of these codes."""
    assert reply is not None, "closed instead of an error"
    code = well_formed_error(reply)
    assert code in codes, f"code {code} instead of {codes}: {reply}"
    return reply


def ok_or_error(reply):
    """Answers the code, 0 for none."""
    assert reply is not None, "closed instead of an answer"
    if reply["ok"] == 1:
        for error in reply.get("writeErrors", []):
            assert error["code"] not in (1, 8) and error["errmsg"], error
        return 0
    return well_formed_error(reply)
