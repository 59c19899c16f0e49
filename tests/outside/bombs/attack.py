"""The client of the bombs: connections to both APIs, whose replies are checked."""

import os
import threading
import time

import bson
from badinput import wire as documents
from badinput_nosql import wire as items
from lib.wire import Silence

from bombs.wires import DOCS, op_msg

PATIENCE = float(os.environ.get("PATIENCE", "1"))
#: Seconds for which a bomb holds connections or cursors open.
HOLD = 2.0
#: Error codes without meaning, which no reply may have.
NONSENSE = {1, 8}
STATUSES = {200, 207, 400, 408, 413, 429, 501, 503}


class Attack:
    """One attacker. `within` is the limit of the time of a reply in seconds; it is long, since
    bombs must be refused, not answered fast."""

    def __init__(self, server, crowd):
        self.mongo_address, self.items_address = server.address, server.items.address
        self.within = (60 if crowd == 1 else 600) * PATIENCE
        self.problems, self.wires = [], {}
        #: Kinds of replies.
        self.answers = []

    def close(self):
        for wire in self.wires.values():
            wire.close()

    def wire(self, kind, address, new=False):
        if new or kind not in self.wires:
            wire = kind.Wire(address)
            if kind is documents:
                # Drivers send it first; before it a connection may not send large messages.
                wire.run(("hello", 1), db="admin", within=self.within)
            self.wires[(kind, len(self.wires)) if new else kind] = wire
            return wire
        return self.wires[kind]

    def run(self, work):
        try:
            work(self)
        except Silence as problem:
            self.problems.append(f"no answer: {problem}")
        except (AssertionError, OSError) as problem:
            self.problems.append(repr(problem)[:500])

    def mongo(self, body, within, new=False):
        """Sends a command of the MongoDB API, or its bytes; returns the reply, whose error code
        must have a meaning."""
        wire = self.wire(documents, self.mongo_address, new)
        wire.send(body if isinstance(body, bytes) else op_msg(body), within)
        reply = wire.reply(within)
        assert reply is not None, "closed instead of an answer"
        code = reply.get("code", 0)
        text = reply.get("errmsg", "")
        for error in reply.get("writeErrors", []):
            code, text = error["code"], error["errmsg"]
        assert code not in NONSENSE, f"an error of no kind: {bson.encode(reply)[:500]!r}"
        self.answers.append(f"{code} {text[:80]}".strip())
        return reply

    def sql(self, text, headers=()):
        """Sends a query of the NoSQL API for one partition."""
        headers = {items.PARTITION_KEY: '["a"]', **dict(headers)}
        return self.judged(items.query(text, path=DOCS, headers=headers))

    def post(self, path, body, headers):
        return self.ask("POST", path, body, headers)

    def ask(self, verb, path, body, headers):
        return self.judged(items.request(verb, path, body, headers))

    def judged(self, data):
        wire = self.wire(items, self.items_address)
        wire.send(data, self.within)
        reply = wire.reply(self.within)
        assert reply is not None, "closed instead of an answer"
        assert reply.status in STATUSES, f"{reply.status} {reply.body[:300]!r}"
        text = reply.body[:80].decode(errors="replace") if reply.status >= 400 else ""
        self.answers.append(f"{reply.status} {text}".strip())
        return reply

    @staticmethod
    def hold():
        time.sleep(HOLD)


def throw(server, work, crowd):
    """Runs a bomb with `crowd` attackers; returns the errors, and the kinds of replies."""
    attacks = [Attack(server, crowd) for _ in range(crowd)]
    threads = [threading.Thread(target=attack.run, args=(work,), daemon=True) for attack in attacks]
    for thread in threads:
        thread.start()
    for attack, thread in zip(attacks, threads, strict=True):
        thread.join(attack.within + 60)
        if thread.is_alive():
            attack.problems.append("it never ends")
    for attack in attacks:
        attack.close()
    problems = sorted({problem for attack in attacks for problem in attack.problems})
    return problems, sorted({answer for attack in attacks for answer in attack.answers})
