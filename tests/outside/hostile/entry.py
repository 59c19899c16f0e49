"""An entry of the hostile corpus: the data and its target, its origin, and the word that describes
the required reply, which is listed in `answers.tsv`.

A word is `ok`, `closed`, the number of MongoDB's error, `write N` for an error of one write (with
`, closed` if the connection is closed after it), the status of HTTP, or for HTTP/2 `refused` or
`borne`.
"""

import functools
import pathlib
from collections.abc import Callable
from typing import NamedTuple

import bson
from badinput.wire import OP_COMPRESSED, command, msg
from lib.wire import WITHIN

#: A text in payloads that must not appear in a log.
MARK = "pl4nted"
#: The database of the logged-in user, and its collection that must not change.
DATABASE, KEPT = "shop", "kept"
#: In the NoSQL API: the witness's items, and a container that entries may write to.
ITEMS, MADE = "/dbs/sentinel/colls/kept/docs", "/dbs/sentinel/colls/made/docs"
#: The stations of each API; whether the server requires authentication there.
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
#: A reply may exceed the size of the request by this many bytes: no memory contents are disclosed.
MOST_ANSWERED = 64 << 10
ANSWERS = pathlib.Path(__file__).with_name("answers.tsv")


class Made(NamedTuple):
    """An entry as it is defined; `run(place)` sends it and returns the word of the reply."""

    what: str
    api: str
    run: Callable
    known: str | None


class Entry(NamedTuple):
    """One entry; `answers` has a word for each station, or several allowed ones."""

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
        """Yields the entries with their numbers and required replies."""
        for number, made in enumerate(self.made, 1):
            known = self.known if made.known is None else made.known
            answers = dict(zip(STATIONS[made.api], words(self.id, made), strict=True))
            yield Entry(f"{self.id}.{number}", made.what, known, made.api, made.run, answers)


@functools.cache
def written():
    """Returns the table of replies: class and entry, with the words of the replies."""
    lines = [line.split("\t") for line in ANSWERS.read_text().splitlines()]
    found = {(kind, what): answer for kind, what, answer in lines}
    assert len(found) == len(lines), "an entry has two answers"
    return found


def words(kind, made):
    """Returns the words of an entry, one for each station."""
    found = written()[kind, made.what].split(" / ")
    return found * len(STATIONS[made.api]) if len(found) == 1 else found


# The MongoDB API.


def word(reply):
    """Returns the word of a reply's document; None means a closed connection."""
    if reply is None:
        return "closed"
    if reply["ok"] != 1:
        # An error must have a specific code and a message, in the form that drivers read.
        assert isinstance(reply["code"], int) and reply["codeName"] and reply["errmsg"], reply
        assert reply["code"] not in (1, 8), f"an error of no kind: {reply}"
        return str(reply["code"])
    errors = reply.get("writeErrors")
    return f"write {errors[0]['code']}" if errors else "ok"


def answered(place, sent, within=WITHIN):
    """Sends bytes; returns the word of the reply. The connection may stay open or close."""
    place.wire.send(sent)
    reply = place.wire.reply(within)
    if reply is not None:
        size = len(bson.encode(reply))
        assert size < len(sent) + MOST_ANSWERED, f"an answer of {size} bytes"
    return word(reply)


def compressed_word(place, sent):
    """Does the same when the reply may be compressed."""
    place.wire.send(sent)
    got = place.wire.frame()
    if got is None:
        return "closed"
    if got[2] == OP_COMPRESSED:
        return "ok"
    return word(bson.decode(got[3][5:]))


def raw(what, data, known=None):
    """An entry of bytes, or a function that makes them, for the MongoDB API."""
    return steps(what, lambda place: answered(place, data() if callable(data) else data), known)


#: Large messages take long to make, and are sent to several stations.
@functools.lru_cache(4)
def packed_command(make):
    return make()


def asks(what, first, *fields, db=DATABASE, known=None, within=WITHIN, **more):
    """An entry of a command; values that are functions are called when it is sent."""

    def make():
        now = [(name, it() if callable(it) else it) for name, it in (*fields, *more.items())]
        return msg(command(first, *now, db=db))

    def run(place):
        return answered(place, packed_command(make), within)

    return steps(what, run, known)


def steps(what, run, known=None):
    """An entry of several messages to the MongoDB API; `run` returns the last reply's word."""
    return Made(what, "mongodb", run, known)


def finds(what, filter_, known=None):
    """An entry of a filter."""
    return asks(what, ("find", KEPT), ("filter", filter_), known=known)


def computes(what, expression, known=None, **more):
    """An entry of an expression."""
    return runs(what, [{"$project": {"x": expression}}], known, **more)


def runs(what, pipeline, known=None, **more):
    """An entry of a pipeline."""
    fields = ("pipeline", pipeline), ("cursor", {})
    return asks(what, ("aggregate", KEPT), *fields, known=known, **more)


def inserts(what, document, known=None):
    """An entry of a document to be stored."""
    fields = [("documents", lambda: [document() if callable(document) else document])]
    return asks(what, ("insert", "made"), *fields, known=known)


# HTTP.


def status(reply):
    """Returns the word of an HTTP reply, where None means that the server closed the connection."""
    return "closed" if reply is None else str(reply.status)


def http(what, data, known=None, api="nosql", check=None, within=WITHIN):
    """An entry of HTTP bytes: `data(ask)` makes them, and `ask` a request with the station's
    signature. `check(reply)` checks more of the reply than its status.
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
    """An entry of HTTP bytes for the admin address."""
    return http(what, lambda _: data, known, "admin", check)


def exchange(what, run, known=None):
    """An entry of several steps on a connection to the NoSQL API."""
    return Made(what, "nosql", run, known)
