"""HTTP itself: unlimited heads, other versions and protocols, TLS, half-closed connections, and
pipelining."""

import socket
import ssl
import time

import pytest
from lib.texts import NO_ENTITY
from lib.wire import ENDS, WITHIN

from badinput_nosql.test_framing import CL, head
from badinput_nosql.wire import ALERT, A, request

DOCS = "/dbs/data/colls/c/docs"

LINES = {
    "nothing": b"\r\n\r\n",
    "LF": b"\n",
    "many lines": b"\r\n" * 10_000,
    "NUL": b"\0" * 100,
    "0xff": b"\xff" * 1000,
    "words": b"hello world\r\n\r\n",
    "no version": b"GET /dbs\r\n\r\n",
    "HTTP/0.9": b"GET /\r\n",
    "HTTP/2": b"GET / HTTP/2\r\nhost: x\r\n\r\n",
    "HTTP/3.0": b"GET / HTTP/3.0\r\nhost: x\r\n\r\n",
    "HTTP/1.2": b"GET / HTTP/1.2\r\nhost: x\r\n\r\n",
    "HTTP/11": b"GET / HTTP/11\r\nhost: x\r\n\r\n",
    "http/1.1": b"GET / http/1.1\r\nhost: x\r\n\r\n",
    "HTTP/1.1x": b"GET / HTTP/1.1x\r\nhost: x\r\n\r\n",
    "HTTP /1.1": b"GET / HTTP /1.1\r\n\r\n",
    "ICY": b"GET / ICY/1.0\r\n\r\n",
    "no method": b" / HTTP/1.1\r\n\r\n",
    "no target": b"GET  HTTP/1.1\r\n\r\n",
    "two blanks": b"GET  /  HTTP/1.1\r\n\r\n",
    "tabs": b"GET\t/\tHTTP/1.1\r\n\r\n",
    "a method without end": b"G" * 200_000,
    "a target without end": b"GET /" + b"x" * 300_000,
    "a version without end": b"GET / HTTP/1.1" + b"1" * 200_000,
    "NUL in the target": b"GET /\0 HTTP/1.1\r\nhost: x\r\n\r\n",
    "CR in the target": b"GET /\rx HTTP/1.1\r\nhost: x\r\n\r\n",
    "bytes in the target": b"GET /\xff\xfe HTTP/1.1\r\nhost: x\r\n\r\n",
    "bytes in the method": b"G\xcbT / HTTP/1.1\r\n\r\n",
    "the preface of HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(9),
    "SSH": b"SSH-2.0-OpenSSH_9.0\r\n",
    "SMTP": b"EHLO x\r\n",
    "MongoDB": bytes([58, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0xDD, 7, 0, 0]) + bytes(42),
    "Postgres": b"\0\0\0\x08\x04\xd2\x16\x2f",
    "Redis": b"*1\r\n$4\r\nPING\r\n",
    "SOCKS": b"\x05\x01\x00",
    "PROXY": b"PROXY TCP4 1.2.3.4 5.6.7.8 1 2\r\nGET / HTTP/1.1\r\nhost: x\r\n\r\n",
    "a name with a blank": b"GET / HTTP/1.1\r\nho st: x\r\n\r\n",
    "a name of bytes": b"GET / HTTP/1.1\r\nh\xf6st: x\r\n\r\n",
    "no name": b"GET / HTTP/1.1\r\n: x\r\n\r\n",
    "a line without colon": b"GET / HTTP/1.1\r\nhost\r\n\r\n",
    "a folded first line": b"GET / HTTP/1.1\r\n host: x\r\n\r\n",
    "NUL in a name": b"GET / HTTP/1.1\r\nho\0st: x\r\n\r\n",
    "CR in a value": b"GET / HTTP/1.1\r\nhost: a\rb\r\n\r\n",
    "NUL in a value": b"GET / HTTP/1.1\r\nhost: a\0b\r\n\r\n",
}


@pytest.mark.parametrize("what", LINES)
def test_lines_that_are_no_request(attacked, what):
    """They get a refusal or a closed connection; silence is allowed only if more may come. None is
    served."""
    with attacked.wire() as wire:
        wire.send(LINES[what])
        try:
            reply = wire.reply(0.2)
        except AssertionError:
            reply = None
        assert reply is None or reply.status in (400, 401, 414, 431, 505), reply
    attacked.unchanged()


@pytest.mark.parametrize("what", ["bare LF", "LF and CRLF mixed"])
def test_lines_that_end_otherwise(attacked, what):
    """Served as one request or refused: a body is not parsed as a second request."""
    data = request("POST", DOCS, {"id": "1", "pk": "a"}, A)
    first, body = data.split(b"\r\n\r\n", 1)
    lines = first.split(b"\r\n")
    if what == "bare LF":
        data = b"\n".join(lines) + b"\n\n" + body
    else:
        data = (
            b"".join(line + (b"\n" if i % 2 else b"\r\n") for i, line in enumerate(lines))
            + b"\r\n"
            + body
        )
    reply = attacked.survived_any(data)
    assert reply.status in (400, 409), reply
    attacked.unchanged()


@pytest.mark.parametrize("size", [130 << 10, 1 << 20, 8 << 20])
@pytest.mark.parametrize("form", ["one value", "one name", "many lines"])
def test_heads_without_end(attacked, size, form):
    """A head over the limit is refused before its end, and not buffered."""
    before = attacked.server.rss()
    start = head()[:-2]
    data = {
        "one value": b"x: " + b"y" * size,
        "one name": b"x" * size,
        "many lines": b"x: %s\r\n" % (b"y" * 40) * (size // 45),
    }[form]
    with attacked.wire() as wire, attacked.undisturbed():
        wire.send(start + data, within=3)
        reply = wire.reply(2)
        assert reply is None or reply.status in (400, 431), reply
    assert attacked.server.rss() - before < 64 << 20
    attacked.unchanged()


@pytest.mark.parametrize("count", [201, 1000, 5000, 100_000])
def test_thousands_of_headers(attacked, count):
    """Many small lines are refused, without quadratic work."""
    with attacked.undisturbed(), attacked.wire() as wire:
        wire.send(
            head()[:-2]
            + b"".join(b"x-%d: y\r\n" % i for i in range(count))
            + b"content-length: 2\r\n\r\n{}",
            within=3,
        )
        reply = wire.reply(2)
        assert reply is None or reply.status in (400, 431), reply
    attacked.unchanged()


@pytest.mark.parametrize(("more", "status"), [(80, 200), (101, 431)])
def test_a_hundred_headers_are_the_most(attacked, more, status):
    headers = {**A, **{f"x-{i}": "y" * 100 for i in range(more)}}
    attacked.survived(request("GET", f"{DOCS}/1", None, headers), status)


def test_heads_of_sixty_kilobytes_are_right(attacked):
    attacked.survived(request("GET", f"{DOCS}/1", None, {**A, "x-long": "y" * 60_000}), 200, 431)


@pytest.mark.parametrize(
    "expectation", ["100-continue", "100-Continue", "nonsense", "100-continue, nonsense", ""]
)
def test_expectations(attacked, expectation):
    """If the server promises to continue, it waits for the body, then replies."""
    with attacked.wire() as wire:
        item = b'{"id":"1","pk":"a"}'
        wire.send(head(CL % len(item), headers={"expect": expectation}))
        if wire.silent(0.1):
            wire.send(item)
        reply = wire.reply()
        if reply.status == 100:
            wire.send(item)
            reply = wire.reply()
        assert reply.status in (409, 417, 400), reply
        if not reply.closes:
            wire.usable(reply)


def test_an_expectation_of_too_much(attacked):
    """With an Expect header, a too large body is refused before it is sent."""
    with attacked.wire() as wire:
        reply = wire.ask(head(CL % (64 << 20), headers={"expect": "100-continue"}))
        assert reply.status == 413, reply
    attacked.unchanged()


def test_pipelined_requests(attacked):
    """Replies come in the order of the requests, for requests of all kinds."""
    asked = [
        (request("GET", f"{DOCS}/1", None, A), 200),
        (request("GET", f"{DOCS}/none", None, A), 404),
        (request("POST", DOCS, "{", A), 400),
        (request("GET", "/dbs", None, {"authorization": None}), 401),
        (request("PUT", "/dbs", {"id": "x"}), 405),
        (request("POST", DOCS, {"id": "1", "pk": "a"}, A), 409),
        (request("HEAD", f"{DOCS}/1", None, A), 200),
        (request("GET", "/nothing"), 404),
    ]
    with attacked.wire() as wire:
        for times in (1, 25):
            wire.send(b"".join(data for data, _ in asked) * times)
            for _ in range(times):
                for data, status in asked:
                    reply = wire.reply(5, "HEAD" if data.startswith(b"HEAD") else "GET")
                    assert reply is not None and reply.status in (
                        status,
                        400 if status == 404 else status,
                    ), f"{data[:40]}: {reply}"
        wire.good()
    attacked.unchanged()


def test_a_storm_of_requests(attacked):
    """10,000 requests on one connection, a thousand at a time before the first reply is read."""
    data = request("GET", f"{DOCS}/none", None, A) * 1000
    with attacked.wire() as wire, attacked.undisturbed():
        for _ in range(10):
            wire.send(data, within=20)
            for _ in range(1000):
                assert wire.reply(20).status == 404


@pytest.mark.parametrize(
    ("version", "connection", "closes"),
    [
        ("HTTP/1.0", None, True),
        ("HTTP/1.0", "keep-alive", None),
        ("HTTP/1.1", "close", True),
        ("HTTP/1.1", "CLOSE", True),
        ("HTTP/1.1", "keep-alive", False),
        ("HTTP/1.1", "x, close", True),
        ("HTTP/1.1", "nonsense", False),
    ],
)
def test_who_closes(attacked, version, connection, closes):
    with attacked.wire() as wire:
        reply = wire.ask(
            request("GET", f"{DOCS}/none", None, {**A, "connection": connection}, version=version)
        )
        assert reply.status == 404
        assert reply.texts() == [NO_ENTITY]
        if closes:
            wire.ended()
        elif closes is False:
            wire.good()


@pytest.mark.parametrize("upgrade", ["websocket", "h2c", "TLS/1.2", "nonsense"])
def test_upgrades_that_are_not_made(attacked, upgrade):
    headers = {
        **A,
        "connection": "Upgrade, HTTP2-Settings",
        "upgrade": upgrade,
        "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
        "http2-settings": "AAMAAABkAAQAAP__",
    }
    attacked.survived(request("GET", f"{DOCS}/1", None, headers), 200, 400)


GARBAGE = {
    "a byte": b"\x16",
    "a record of nothing": b"\x16\x03\x01\x00\x00",
    "zeros": b"\x16" + bytes(1000),
    "a huge record": b"\x16\x03\x01\xff\xff" + b"x" * 70_000,
    "a cut hello": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"r" * 32,
    "HTTP behind": b"\x16GET / HTTP/1.1\r\nhost: x\r\n\r\n",
    "SSLv2": b"\x16\x80\x2e\x01\x00\x02",
    "old": b"\x16\x03\x00\x00\x05\x01\x00\x00\x01\x03",
    "alert": b"\x16\x15\x03\x03\x00\x02\x02\x28",
    "random": b"\x16\x03\x01" + bytes(range(256)) * 4,
    "many records": b"\x16\x03\x01\x00\x01\x01" * 5000,
    "a hello without end": b"\x16\x03\x01\x40\x00\x01\xff\xff\xff" + b"x" * 16_000,
}


@pytest.mark.parametrize("what", GARBAGE)
def test_garbage_as_tls(attacked, what):
    """Closed at most with an alert, or waited for as incomplete; there is no HTTP reply."""
    with attacked.wire() as wire:
        wire.send(GARBAGE[what])
        wire.socket.settimeout(0.2)
        try:
            answer = wire.socket.recv(4096)
        except (TimeoutError, ConnectionResetError):
            answer = b""
        assert answer[:1] in (b"", ALERT), answer
    attacked.unchanged()


@pytest.mark.parametrize("version", ["TLSv1_2", "TLSv1_3"])
def test_tls_is_served(attacked, version):
    with attacked.wire(tls=True) as wire:
        wire.good(2 * WITHIN)
        reply = wire.ask(request("GET", f"{DOCS}/none", None, A))
        assert reply.status == 404
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.minimum_version = context.maximum_version = ssl.TLSVersion[version]
    with (
        socket.create_connection(attacked.address, 5) as plain,
        context.wrap_socket(plain) as secure,
    ):
        secure.sendall(request("GET", "/", None, {"connection": "close"}))
        assert secure.recv(4096).startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize(
    "data",
    [
        request("POST", DOCS, "{", A),
        request("GET", f"{DOCS}/none", None, A),
        request("POST", DOCS, {"id": "x" * 2000, "pk": "a"}, A),
    ],
    ids=["no JSON", "no item", "long id"],
)
def test_refusals_over_tls(attacked, data):
    with attacked.wire(tls=True) as wire:
        reply = wire.ask(data, 2 * WITHIN)
        assert reply.status in (400, 404)
        assert reply.texts()
        wire.good()
    attacked.unchanged()


@pytest.mark.parametrize(
    ("tls", "data"),
    [(True, b"\x16\x03\x01\x00\x05hello"), (False, b"\x17\x03\x03\x00\x05hello\r\n\r\n")],
    ids=["TLS", "plain"],
)
def test_plain_text_inside_tls_and_the_other_way(attacked, tls, data):
    with attacked.wire(tls=tls) as wire:
        wire.send(data)
        try:
            reply = wire.reply(0.3)
        except AssertionError:
            reply = None
        assert reply is None or reply.status == 400, reply


@pytest.mark.parametrize("sent", [0, 1, 10, 100, -1])
@pytest.mark.parametrize("end", ENDS)
def test_requests_that_do_not_end(attacked, sent, end):
    """An incomplete write is not executed, however its client ends."""
    data = request("POST", DOCS, {"id": "new", "pk": "a"}, A)
    wire = attacked.wire()
    wire.leave_within(data, sent, end)
    if end == "half":
        reply = wire.reply(3)
        assert reply is None or reply.status in (400, 408), reply
        wire.close()
    time.sleep(0.01)
    attacked.unchanged()


def test_half_closed_after_a_whole_request(attacked):
    """A request sent before the client stopped sending gets a complete reply, or the connection is
    closed."""
    for data, status in (
        (request("GET", f"{DOCS}/1", None, A), 200),
        (request("GET", f"{DOCS}/none", None, A), 404),
    ):
        with attacked.wire() as wire:
            wire.send(data)
            wire.half_close()
            reply = wire.reply()
            assert reply is None or reply.status == status, reply
            wire.ended() if reply is not None else None
