"""The end of a request's body: request smuggling, wrong lengths and chunks."""

import json

import pytest
from lib.texts import TOO_LARGE
from lib.wire import WITHIN

from badinput_nosql.wire import A, request

DOCS = "/dbs/data/colls/c/docs"
NEW = json.dumps({"id": "new", "pk": "a"}).encode()
#: A request hidden behind another one: if it were served, an item would be deleted.
HIDDEN = request("DELETE", f"{DOCS}/1", None, A)


def head(*lines, verb="POST", path=DOCS, headers=None):
    """Returns the head of a signed request with further lines, unchanged."""
    data = request(verb, path, None, {**A, "content-length": None, **(headers or {})})
    return (
        data[:-2]
        + b"".join(line if line.endswith(b"\n") else line + b"\r\n" for line in lines)
        + b"\r\n"
    )


def chunk(data, size=None, end=b"\r\n"):
    return (b"%x" % len(data) if size is None else size) + end + data + end


LAST = b"0\r\n\r\n"
CL, TE = b"content-length: %d", b"transfer-encoding: chunked"

#: Bytes whose end two parsers may place differently.
SMUGGLED = {
    "length and chunks": head(CL % len(LAST + HIDDEN), TE) + LAST + HIDDEN,
    "chunks and length": head(TE, CL % len(LAST + HIDDEN)) + LAST + HIDDEN,
    "short length and chunks": head(CL % 4, TE) + chunk(NEW) + LAST + HIDDEN,
    "two lengths": head(CL % 0, CL % len(HIDDEN)) + HIDDEN,
    "two lengths turned": head(CL % len(HIDDEN), CL % 0) + HIDDEN,
    "a list of lengths": head(b"content-length: 0, %d" % len(HIDDEN)) + HIDDEN,
    "length with a plus": head(b"content-length: +%d" % len(NEW)) + NEW + HIDDEN,
    "length below zero": head(b"content-length: -1") + HIDDEN,
    "length in hex": head(b"content-length: 0x%x" % len(HIDDEN)) + HIDDEN,
    "length with blanks": head(b"content-length: 1 0") + HIDDEN,
    "empty length": head(b"content-length: ") + HIDDEN,
    "length of text": head(b"content-length: x") + HIDDEN,
    "length with a point": head(b"content-length: 0.0") + HIDDEN,
    "length over 64 bits": head(b"content-length: 18446744073709551616") + HIDDEN,
    "length of 64 bits": head(b"content-length: 18446744073709551615") + HIDDEN,
    "blank before the colon": head(b"content-length : 0") + HIDDEN,
    "blank before TE's colon": head(b"transfer-encoding : chunked", CL % 5) + LAST + HIDDEN,
    "tab before the colon": head(b"transfer-encoding\t: chunked") + LAST + HIDDEN,
    "blank before the name": head(b" transfer-encoding: chunked") + LAST + HIDDEN,
    "a folded line": head(b"x: y", b" transfer-encoding: chunked") + LAST + HIDDEN,
    "a folded value": head(b"transfer-encoding:", b" chunked") + LAST + HIDDEN,
    "identity and chunked": head(b"transfer-encoding: identity, chunked") + LAST + HIDDEN,
    "chunked and identity": head(b"transfer-encoding: chunked, identity") + LAST + HIDDEN,
    "identity": head(b"transfer-encoding: identity") + HIDDEN,
    "xchunked": head(b"transfer-encoding: xchunked") + LAST + HIDDEN,
    "chunked in quotes": head(b'transfer-encoding: "chunked"') + LAST + HIDDEN,
    "chunked twice": head(b"transfer-encoding: chunked, chunked") + LAST + HIDDEN,
    "two TE": head(TE, b"transfer-encoding: identity") + LAST + HIDDEN,
    "two TE turned": head(b"transfer-encoding: identity", TE) + LAST + HIDDEN,
    "gzip": head(b"transfer-encoding: gzip") + HIDDEN,
    "gzip, chunked": head(b"transfer-encoding: gzip, chunked") + LAST + HIDDEN,
    "VT before chunked": head(b"transfer-encoding: \x0bchunked") + LAST + HIDDEN,
    "NUL in TE": head(b"transfer-encoding: chunked\0") + LAST + HIDDEN,
    "chunked;x": head(b"transfer-encoding: chunked;x=y") + LAST + HIDDEN,
    "empty TE": head(b"transfer-encoding: ") + LAST + HIDDEN,
    "bare CR in a value": head(b"x: a\rtransfer-encoding: chunked") + HIDDEN,
    "NUL in a value": head(b"x: a\0b") + HIDDEN,
    "colon without name": head(b": x") + HIDDEN,
    "no colon": head(b"transfer-encoding chunked") + HIDDEN,
    "HTTP/1.0 with TE": head(TE).replace(b"HTTP/1.1", b"HTTP/1.0", 1) + LAST + HIDDEN,
    "GET with a body": head(CL % len(HIDDEN), verb="GET", path="/dbs") + HIDDEN,
    "DELETE with chunks": head(TE, verb="DELETE", path=f"{DOCS}/none") + LAST,
}


@pytest.mark.parametrize("what", SMUGGLED)
def test_requests_hidden_in_requests(attacked, what):
    """There is at most one reply, unless all parsers agree; the hidden request is never served."""
    with attacked.wire() as wire:
        wire.send(SMUGGLED[what])
        first, second = wire.reply(), None
        if first is not None:
            assert first.status < 500, first
            if not wire.read and not first.closes:
                # If the connection stays open, the server has determined the end of the body: it
                # must not treat the hidden bytes as a request.
                wire.send(request("GET", f"{DOCS}/none", None, A))
            second = wire.reply()
            while second is not None:
                assert second.status in (400, 404, 405), (
                    f"what was hidden is served: {first} and then {second}"
                )
                second = (
                    None if second.closes or second.is_bare else wire.reply() if wire.read else None
                )
    # Chunks with a length may be served if the length is ignored, and nothing else is.
    if what == "short length and chunks" and first is not None and first.status == 201:
        assert first.closes or second is None
        attacked.remove(f"{DOCS}/new", A)
        attacked.tidy()
    attacked.unchanged()


CHUNKS = {
    "negative": chunk(NEW, b"-1"),
    "no number": chunk(NEW, b"x"),
    "empty": chunk(NEW, b""),
    "hex mark": chunk(NEW, b"0x1a"),
    "plus": chunk(NEW, b"+1a"),
    "blank in front": chunk(NEW, b" 1a"),
    "huge": chunk(NEW, b"ffffffffffffffff"),
    "huger": chunk(NEW, b"f" * 17),
    "thousands of digits": chunk(NEW, b"f" * 10_000),
    "thousands of zeros": chunk(NEW, b"0" * 100_000 + b"1a"),
    "2 GB": chunk(NEW, b"80000000"),
    "too short": chunk(NEW, b"5"),
    "no line behind": b"1a\r\n" + NEW + LAST,
    "bare LF": chunk(NEW, end=b"\n"),
    "bare CR": chunk(NEW, end=b"\r"),
    "underscore": chunk(NEW, b"1_a"),
    "fraction": chunk(NEW, b"1.5"),
    "NUL": chunk(NEW, b"\0"),
    "list": chunk(NEW, b"1,a"),
    "a long extension": chunk(NEW, b"1a;" + b"x" * 100_000),
    "LF in an extension": chunk(NEW, b"%x;a\nb" % len(NEW)),
    "a bad trailer": chunk(NEW) + b"0\r\nno colon\r\n\r\n",
    "trailers without end": chunk(NEW) + b"0\r\n" + b"x: y\r\n" * 20_000 + b"\r\n",
}


@pytest.mark.parametrize("what", CHUNKS)
def test_chunks_that_lie(attacked, what):
    """Malformed chunks are refused or the connection is closed; their content is not stored."""
    with attacked.wire() as wire:
        wire.send(head(TE) + CHUNKS[what] + LAST)
        try:
            reply = wire.reply(0.5 * WITHIN)
        except AssertionError:
            reply = None  # It waits for the chunk's end: no reply, and no item.
        assert reply is None or reply.status in (400, 408, 413, 431), reply
    attacked.unchanged()


def test_chunks_that_are_right(attacked):
    item = b'{"id":"1","pk":"a"}'
    for body in (
        chunk(item) + LAST,
        b"".join(chunk(item[i : i + 1]) for i in range(len(item))) + LAST,
        chunk(item, b"%x;name=value" % len(item)) + LAST,
        chunk(item, b"%X" % len(item)) + LAST,
        chunk(item, b"000%x" % len(item)) + LAST,
        chunk(item) + b"0\r\nx-trailer: y\r\n\r\n",
    ):
        reply = attacked.survived_any(head(TE) + body)
        assert reply.status == 409, reply
    attacked.unchanged()


def test_ten_thousand_chunks_of_one_byte(attacked):
    item = b'{"id":"1","pk":"a","x":"' + b"y" * 10_000 + b'"}'
    with attacked.undisturbed():
        reply = attacked.survived_any(
            head(TE) + b"".join(b"1\r\n%c\r\n" % byte for byte in item) + LAST, within=3
        )
    assert reply.status == 409


@pytest.mark.parametrize("sent", [3 << 20, 64 << 20])
def test_chunks_over_the_limit(attacked, sent):
    before = attacked.server.rss()
    with attacked.wire() as wire, attacked.undisturbed():
        wire.send(head(TE) + b'15\r\n{"id":"new","pk":"a",\r\n')
        part = chunk(b" " * 65_536)
        for _ in range(sent // 65_536):
            if not wire.send(part):
                break
        wire.send(LAST)
        reply = wire.reply(5)
        assert reply is not None, "closed instead of 413"
        assert reply.status == 413 and reply.texts() == [TOO_LARGE], reply
    assert attacked.server.rss() - before < 64 << 20
    attacked.unchanged()


@pytest.mark.parametrize("claimed", [(3 << 20), 1 << 31, 1 << 40, (1 << 63) - 1])
def test_lengths_that_are_too_much(attacked, claimed):
    """Refused by the announced length alone, before the body arrives."""
    before = attacked.server.rss()
    attacked.refused(head(CL % claimed), 413, text=TOO_LARGE)
    assert attacked.server.rss() - before < 32 << 20


@pytest.mark.parametrize("verb", ["GET", "DELETE", "HEAD"])
def test_bodies_where_none_is_wanted(attacked, verb):
    path = f"{DOCS}/none" if verb == "DELETE" else f"{DOCS}/1"
    for body in (b"x", b"{}", b"x" * 100_000):
        data = request(verb, path, None, {**A, "content-length": str(len(body))}) + body
        with attacked.wire() as wire:
            reply = wire.ask(data)
            assert reply.status in ((404, 400) if verb == "DELETE" else (200, 400, 413)), reply
            if not reply.closes:
                wire.usable(reply)
    attacked.refused(
        request(verb, path, None, {**A, "content-length": str(1 << 40)}), 413
    ) if verb != "HEAD" else None
