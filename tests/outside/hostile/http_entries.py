"""Hostile HTTP (B21) and requests that a web page can make a browser send (B22)."""

import functools
import struct
import time

from badinput_nosql.wire import A
from bombs.http2 import END_HEADERS, END_STREAM, HEADERS, PREFACE, SETTINGS, frame, text
from lib.wire import WITHIN

from hostile.entry import ITEMS, MADE, MARK, Kind, exchange, http, page, status

DATA, RST_STREAM, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = 0, 3, 6, 7, 8, 9


def head(ask, *lines, verb="POST", path=MADE):
    """Returns the head of a request with further lines, unchanged."""
    data = ask(verb, path, None, {**A, "content-length": None})
    return data[:-2] + b"".join(line + b"\r\n" for line in lines) + b"\r\n"


TE, LAST = b"transfer-encoding: chunked", b"0\r\n\r\n"
LINES = {
    "a length and chunks": (b"content-length: 5", TE),
    "chunks and a length": (TE, b"content-length: 5"),
    "two lengths": (b"content-length: 0", b"content-length: 5"),
    "a list of lengths": (b"content-length: 0, 5",),
    "a length with a plus": (b"content-length: +5",),
    "a length below zero": (b"content-length: -1",),
    "a length in hex": (b"content-length: 0x5",),
    "a length over 64 bits": (b"content-length: 18446744073709551616",),
    "a blank before the colon": (b"transfer-encoding : chunked",),
    "a folded line": (b"x: y", b" transfer-encoding: chunked"),
    "chunked and identity": (b"transfer-encoding: chunked, identity",),
    "xchunked": (b"transfer-encoding: xchunked",),
    "chunked twice": (b"transfer-encoding: chunked, chunked",),
    "two encodings": (TE, b"transfer-encoding: identity"),
    "gzip in chunks": (b"transfer-encoding: gzip, chunked",),
    "a CR in a value": (b"x: a\rtransfer-encoding: chunked",),
    "NUL in a value": (b"x: a\0b", b"content-length: 0"),
    "no colon": (b"transfer-encoding chunked",),
}
CHUNKS = {
    "of -1 bytes": b"-1\r\n", "of no number": b"x\r\n", "of 0x2 bytes": b"0x2\r\n",
    "of 2^64 bytes": b"f" * 17 + b"\r\n", "of 10,000 digits": b"0" * 10_000 + b"2\r\n",
    "longer than it says": b"1\r\n{}\r\n", "that ends with LF": b"2\n{}\n",
    "with an extension of 1 MB": b"2;" + b"x" * (1 << 20) + b"\r\n{}\r\n",
    "with an extension of a line": b"2;a=\"\n\"\r\n{}\r\n",
}  # fmt: skip


def smuggled(lines):
    """A request hidden behind a request with an ambiguous end: it must not be served."""

    def run(place):
        hidden = place.ask("DELETE", f"{ITEMS}/1", None, A)
        place.wire.send(head(place.ask, *lines) + LAST + hidden)
        first = place.wire.reply(WITHIN)
        # The hidden request would get 204, and the witness would miss its item.
        while reply := place.wire.reply(WITHIN) if first and not first.closes else None:
            assert reply.status >= 400, f"what was hidden is served: {reply}"
            if reply.closes or reply.is_bare:
                break
        return status(first)

    return run


def many(count):
    return lambda ask: head(ask, *(b"x-%d: y" % n for n in range(count)), b"content-length: 0")


def slow(place):
    """An incomplete head, sent byte by byte; other clients are not delayed."""
    for byte in head(place.ask, b"content-length: 5")[:60]:
        place.wire.send(bytes([byte]))
        time.sleep(0.001)
    place.wire.half_close()
    return status(place.wire.reply())


def pipelined(place):
    """Pipelined requests get their replies in order, or the connection is closed."""
    place.wire.send(place.ask("GET", f"{ITEMS}/none", None, A) * 400)
    last = None
    for _ in range(400):
        reply = place.wire.reply()
        if reply is None:
            break
        last = reply
        if reply.closes:
            break
    return status(last)


def two(make):
    """Frames of HTTP/2, and a ping: `borne` if it gets a reply, `refused` if the server reports an
    error and closes."""
    marked = frame(PING, 0, 0, b"are here")

    def run(place):
        place.wire.send(PREFACE + frame(SETTINGS, 0, 0) + make() + marked, 5.0)
        until, seen = time.monotonic() + WITHIN, b""
        while place.wire.more(until):
            seen, place.wire.read = seen + place.wire.read, b""
            kinds = dict(frames(seen))
            if GOAWAY in kinds:
                return "refused"
            if kinds.get(PING) == b"are here":
                return "borne"
        return "refused"

    return run


def frames(data):
    """Yields kind and payload of each complete frame."""
    at = 0
    while at + 9 <= len(data):
        end = at + 9 + int.from_bytes(data[at : at + 3], "big")
        if end <= len(data):
            yield data[at + 3], data[at + 9 : end]
        at = end


def block(**more):
    pairs = {
        ":method": "GET",
        ":scheme": "http",
        ":path": "/dbs",
        ":authority": "localhost",
        **more,
    }
    return b"".join(b"\x00" + text(name) + text(value) for name, value in pairs.items())


def resets(count):
    cancel = struct.pack(">I", 8)
    return b"".join(
        frame(HEADERS, END_HEADERS | END_STREAM, stream, block())
        + frame(RST_STREAM, 0, stream, cancel)
        for stream in range(1, 2 * count, 2)
    )


def continued(count):
    return frame(HEADERS, END_STREAM, 1, block()) + b"".join(
        frame(CONTINUATION, 0, 1, b"\x00" + text(f"x-{n}") + text("y" * 100)) for n in range(count)
    )


def h2(what, data, known=None):
    return exchange(f"HTTP/2: {what}", two(data), known)


INDEXED = b"\x40" + text("x") + text("y" * 4000) + b"\xbe" * 16_000

B21 = Kind(
    "B21",
    "HTTP: smuggling, endless heads, floods",
    "CVE-2023-44487 (rapid reset), CVE-2024-27316 (CONTINUATION), hyper",
    [
        *(
            exchange(f"a request hidden behind {what}", smuggled(lines))
            for what, lines in LINES.items()
        ),
        *(
            http(f"a chunk {what}", lambda ask, c=chunk: head(ask, TE) + c + LAST)
            for what, chunk in CHUNKS.items()
        ),
        http("a header of 1 MB", lambda ask: head(ask, b"x: " + b"y" * (1 << 20))),
        http("a header's name of 1 MB", lambda ask: head(ask, b"x" * (1 << 20) + b": y")),
        *(http(f"{count:,} headers", many(count)) for count in (101, 1000, 100_000)),
        http("a verb of 200 KB", lambda ask: b"G" * 200_000),
        http("a target of 300 KB", lambda ask: b"GET /" + b"x" * 300_000),
        http("HTTP/9.9", lambda ask: b"GET /dbs HTTP/9.9\r\nhost: x\r\n\r\n"),
        http("NUL in the target", lambda ask: b"GET /\0 HTTP/1.1\r\nhost: x\r\n\r\n"),
        http("a message of MongoDB", lambda ask: bytes([58, 0, 0, 0]) + bytes(54)),
        http(
            "an expectation that nobody knows",
            lambda ask: head(ask, b"expect: nonsense", b"content-length: 2") + b"{}",
        ),
        http(
            "a body of 64 GB that is announced",
            lambda ask: head(ask, b"content-length: 68719476736", b"expect: 100-continue"),
        ),
        exchange("a head a byte at a time, without end", slow),
        exchange("400 requests at once", pipelined),
        h2(
            "1,000 streams that are reset at once",
            functools.partial(resets, 1000),
            "CVE-2023-44487",
        ),
        h2("2,000 CONTINUATION without end", functools.partial(continued, 2000), "CVE-2024-27316"),
        h2(
            "a head of 64 MB out of 20 KB",
            lambda: frame(HEADERS, END_HEADERS | END_STREAM, 1, block() + INDEXED),
            "CVE-2016-6581",
        ),
        h2("2,000 SETTINGS", lambda: frame(SETTINGS, 0, 0) * 2000, "CVE-2019-9515"),
        h2("2,000 PING", lambda: frame(PING, 0, 0, bytes(8)) * 2000, "CVE-2019-9512"),
        h2(
            "2,000 empty DATA frames",
            lambda: frame(HEADERS, END_HEADERS, 1, block()) + frame(DATA, 0, 1) * 2000,
            "CVE-2019-9518",
        ),
        h2(
            "a window that grows beyond 2^31",
            lambda: frame(WINDOW_UPDATE, 0, 0, struct.pack(">I", 2**31 - 1)) * 2,
        ),
        h2("a window that grows by nothing", lambda: frame(WINDOW_UPDATE, 0, 0, bytes(4))),
        h2("data on a stream that is not there", lambda: frame(DATA, 0, 99, MARK.encode())),
        h2(
            "a stream of an even number",
            lambda: frame(HEADERS, END_HEADERS | END_STREAM, 2, block()),
        ),
        h2("a frame of 16 MB", lambda: b"\xff\xff\xff\0\0\0\0\0\1"),
        h2(
            "a table index that is not there",
            lambda: frame(HEADERS, END_HEADERS | END_STREAM, 1, b"\xff\xff\xff\xff\x0f"),
        ),
        h2("a priority of itself", lambda: frame(2, 0, 1, struct.pack(">IB", 1, 255))),
    ],
)


def rebound(verb, path, host, body=b"", **more):
    """Returns a request as a browser sends it."""
    lines = [f"{verb} {path} HTTP/1.1", f"host: {host}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in more.items()]
    if body or verb in ("POST", "PUT"):
        lines += [f"content-length: {len(body)}"]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def closed_to_others(reply):
    """Checks that no other site may read the reply or embed it with credentials."""
    assert "access-control-allow-origin" not in reply.headers, reply.headers
    assert "access-control-allow-credentials" not in reply.headers, reply.headers


def held(reply):
    """Checks the security headers of the portal's pages."""
    closed_to_others(reply)
    policy = reply.headers["content-security-policy"]
    directives = dict(it.strip().partition(" ")[::2] for it in policy.split(";"))
    assert directives["frame-ancestors"] == "'none'", policy
    assert "unsafe-inline" not in directives.get("script-src", directives["default-src"]), policy
    assert "unsafe-eval" not in policy, policy
    assert reply.headers["x-content-type-options"] == "nosniff", reply.headers


def as_data(reply):
    """Checks that markup is returned as JSON, which browsers do not render."""
    closed_to_others(reply)
    assert reply.headers["content-type"].startswith("application/json"), reply.headers


EVIL, OWN = "evil.example", "localhost"
SCRIPT = "<script>alert('pl4nted')</script>"

B22 = Kind(
    "B22",
    "What browsers are made to send: other hosts, other sites, frames, markup",
    "DNS rebinding, CVE-2025-49596 (MCP Inspector), clickjacking, stored XSS",
    [
        *(
            http(
                f"the NoSQL API under the host {host!r}",
                lambda ask, h=host: ask("GET", "/dbs", None, {"host": h}),
                check=closed_to_others,
            )
            for host in (
                EVIL,
                f"{EVIL}:8081",
                "localhost.evil.example",
                "127.0.0.1.nip.io",
                "",
                "[::1",
                "localhost\0",
                "169.254.169.254",
            )
        ),
        http(
            "the NoSQL API without a host",
            lambda ask: ask("GET", "/dbs", None, {"host": None}),
            check=closed_to_others,
        ),
        http(
            "a preflight of another site",
            lambda ask: ask(
                "OPTIONS",
                "/dbs",
                None,
                {
                    "origin": f"https://{EVIL}",
                    "access-control-request-method": "POST",
                    "access-control-request-headers": "authorization",
                },
            ),
            check=closed_to_others,
        ),
        http(
            "a request of another site",
            lambda ask: ask(
                "GET", "/dbs", None, {"origin": f"https://{EVIL}", "sec-fetch-site": "cross-site"}
            ),
            check=closed_to_others,
        ),
        http(
            "a request of a page without an origin",
            lambda ask: ask("GET", "/dbs", None, {"origin": "null"}),
            check=closed_to_others,
        ),
        http(
            "an item that is markup",
            lambda ask: ask("GET", f"{ITEMS}/markup", None, A),
            check=as_data,
        ),
        http(
            "an id that is markup, in an error",
            lambda ask: ask("GET", f"{ITEMS}/%3Cscript%3Ealert(1)%3C%2Fscript%3E", None, A),
            check=as_data,
        ),
        *(
            page(
                f"the portal under the host {host}",
                rebound("GET", "/", host),
                check=closed_to_others,
            )
            for host in (EVIL, "localhost.evil.example", "169.254.169.254")
        ),
        *(
            page(
                f"{verb} {path} of another site",
                rebound(
                    verb,
                    path,
                    OWN,
                    b"{}",
                    origin=f"https://{EVIL}",
                    sec_fetch_site="cross-site",
                    content_type="text/plain",
                ),
                check=closed_to_others,
            )
            for verb, path in (
                ("POST", "/_ebb/clock"),
                ("PUT", "/_ebb/features"),
                ("POST", "/_ebb/session"),
                ("DELETE", "/_ebb/databases/shop/collections/kept"),
            )
        ),
        page(
            "a preflight to the admin address",
            rebound(
                "OPTIONS",
                "/_ebb/features",
                OWN,
                origin=f"https://{EVIL}",
                access_control_request_method="PUT",
            ),
            check=closed_to_others,
        ),
        page(
            "the portal in a frame", rebound("GET", "/", OWN, sec_fetch_dest="iframe"), check=held
        ),
        page(
            "a page that is not there, with markup in its path",
            rebound("GET", "/%3Cscript%3Ealert(1)%3C/script%3E", OWN),
            check=held,
        ),
        page(
            "an upgrade to another protocol",
            rebound(
                "GET",
                "/",
                OWN,
                upgrade="websocket",
                connection="upgrade",
                sec_websocket_key="AAAAAAAAAAAAAAAAAAAAAA==",
                sec_websocket_version="13",
            ),
        ),
    ],
)
KINDS = [B21, B22]
