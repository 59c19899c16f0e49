"""An entry of the hostile corpus: what is sent and where, what is known of it, and the word by
which it has to be answered, which stands in `answers.tsv`.

A word is `ok`, `closed`, the number of MongoDB's error, `write N` for an error of one write (with
`, closed` where the connection ends after it), the status of HTTP, or for HTTP/2 `refused` or
`borne`.
"""

import functools
import pathlib
from collections.abc import Callable
from typing import NamedTuple

import bson
from badinput.wire import OP_COMPRESSED, command, msg
from lib.wire import WITHIN

#: Stands in payloads, and must not be found in a log.
MARK = "pl4nted"
#: The database of the user who is logged in, and its collection that nothing may change.
DATABASE, KEPT = "shop", "kept"
#: Of the NoSQL API: the witness's items, and a container that entries may write to.
ITEMS, MADE = "/dbs/sentinel/colls/kept/docs", "/dbs/sentinel/colls/made/docs"
#: Where an entry of each API is sent; whether the server asks for logins there.
STATIONS = {
    "mongodb": {
        "before a login": True,
        "as a user with readWrite": True,
        "on an open server": False,
    },
    "nosql": {
        "without a signature": True,
        "with a wrong signature": True,
        "with a right signature": True,
    },
    "admin": {"of a server with logins": True, "of an open server": False},
}
#: An answer has no more than was sent and this: nothing of anybody's memory.
MOST_ANSWERED = 64 << 10
ANSWERS = pathlib.Path(__file__).with_name("answers.tsv")


class Made(NamedTuple):
    """An entry as it is written down; `run(place)` sends it and returns the word of the answer."""

    what: str
    api: str
    run: Callable
    known: str | None


class Entry(NamedTuple):
    """One entry; `answers` has a word for each station, or several of which any is right."""

    id: str
    what: str
    known: str
    api: str
    run: Callable
    answers: dict


class Kind(NamedTuple):
    """A class of inputs, B1 to B25."""

    id: str
    title: str
    known: str
    made: list

    def entries(self):
        """The entries with their numbers and the answers that they must get."""
        for number, made in enumerate(self.made, 1):
            known = self.known if made.known is None else made.known
            answers = dict(zip(STATIONS[made.api], words(self.id, made), strict=True))
            yield Entry(f"{self.id}.{number}", made.what, known, made.api, made.run, answers)


@functools.cache
def written():
    """The lines of the table of answers: class and entry, and what is behind them."""
    lines = [line.split("\t") for line in ANSWERS.read_text().splitlines()]
    found = {(kind, what): answer for kind, what, answer in lines}
    assert len(found) == len(lines), "an entry has two answers"
    return found


def words(kind, made):
    """The words of an entry, one for each station."""
    found = written()[kind, made.what].split(" / ")
    return found * len(STATIONS[made.api]) if len(found) == 1 else found


# The MongoDB API.


def word(reply):
    """The word of a reply's document, None where the server closed."""
    if reply is None:
        return "closed"
    if reply["ok"] != 1:
        # An error has to say what was wrong, in the form that drivers read.
        assert isinstance(reply["code"], int) and reply["codeName"] and reply["errmsg"], reply
        assert reply["code"] not in (1, 8), f"an error of no kind: {reply}"
        return str(reply["code"])
    errors = reply.get("writeErrors")
    return f"write {errors[0]['code']}" if errors else "ok"


def answered(place, sent, within=WITHIN):
    """Sends bytes; returns the word of the answer, after which the connection goes on or ends."""
    place.wire.send(sent)
    reply = place.wire.reply(within)
    if reply is not None:
        size = len(bson.encode(reply))
        assert size < len(sent) + MOST_ANSWERED, f"an answer of {size} bytes"
    return word(reply)


def compressed_word(place, sent):
    """The same where the answer may be compressed."""
    place.wire.send(sent)
    got = place.wire.frame()
    if got is None:
        return "closed"
    if got[2] == OP_COMPRESSED:
        return "ok"
    return word(bson.decode(got[3][5:]))


def raw(what, data, known=None):
    """Bytes, or a function that makes them, to the MongoDB API."""
    return steps(what, lambda place: answered(place, data() if callable(data) else data), known)


#: Large messages take long to be made, and are sent to several stations.
@functools.lru_cache(4)
def packed_command(make):
    return make()


def asks(what, first, *fields, db=DATABASE, known=None, within=WITHIN, **more):
    """A command; a value that is a function is called when it is sent."""

    def make():
        now = [(name, it() if callable(it) else it) for name, it in (*fields, *more.items())]
        return msg(command(first, *now, db=db))

    def run(place):
        return answered(place, packed_command(make), within)

    return steps(what, run, known)


def steps(what, run, known=None):
    """Several messages to the MongoDB API; `run(place)` returns the word of the last answer."""
    return Made(what, "mongodb", run, known)


def finds(what, filter_, known=None):
    """A filter."""
    return asks(what, ("find", KEPT), ("filter", filter_), known=known)


def computes(what, expression, known=None, **more):
    """An expression."""
    return runs(what, [{"$project": {"x": expression}}], known, **more)


def runs(what, pipeline, known=None, **more):
    """A pipeline."""
    fields = ("pipeline", pipeline), ("cursor", {})
    return asks(what, ("aggregate", KEPT), *fields, known=known, **more)


def inserts(what, document, known=None):
    """A document to be stored."""
    fields = [("documents", lambda: [document() if callable(document) else document])]
    return asks(what, ("insert", "made"), *fields, known=known)


# HTTP.


def status(reply):
    """The word of an answer of HTTP, None where the server closed."""
    return "closed" if reply is None else str(reply.status)


def http(what, data, known=None, api="nosql", check=None, within=WITHIN):
    """Bytes of HTTP: `data(ask)` makes them, and `ask` a request with the station's signature.

    `check(reply)` looks at more of the answer than its status.
    """

    def run(place):
        sent = data(place.ask)
        place.wire.send(sent)
        reply = place.wire.reply(within, "HEAD" if sent.startswith(b"HEAD") else "GET")
        if check and reply is not None:
            check(reply)
        return status(reply)

    return Made(what, api, run, known)


def page(what, data, known=None, check=None):
    """Bytes of HTTP to the admin address."""
    return http(what, lambda _: data, known, "admin", check)


def exchange(what, run, known=None):
    """Several steps on a connection to the NoSQL API."""
    return Made(what, "nosql", run, known)
