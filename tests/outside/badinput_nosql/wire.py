"""An HTTP client that sends raw bytes: requests are written by hand, signed as clients sign them,
and can be malformed; replies are parsed strictly."""

import email.utils
import json
import re
import ssl
import time

from lib import nosql, signature, wire
from lib.nosql import QUERY
from lib.signature import KEY
from lib.wire import WITHIN, Silence

#: First byte of a TLS handshake, and of the alert for an invalid one.
TLS, ALERT = b"\x16", b"\x15"
#: Maximum size of a reply: a page of 4 MiB and some space.
LARGEST_ANSWER = 8 << 20
MESSAGE = re.compile(r"Message: (\{.*\})\r\nActivityId: ([^\r\n]*), Request URI: (.*)", re.DOTALL)
#: Names of errors by their status.
NAMES = {
    400: "BadRequest",
    401: "Unauthorized",
    403: "Forbidden",
    404: "NotFound",
    405: "MethodNotAllowed",
    406: "NotAcceptable",
    408: "RequestTimeout",
    409: "Conflict",
    421: "MisdirectedRequest",
    410: "Gone",
    412: "PreconditionFailed",
    413: "RequestEntityTooLarge",
    415: "UnsupportedMediaType",
    424: "FailedDependency",
    449: "RetryWith",
    501: "NotImplemented",
    503: "ServiceUnavailable",
}

PARTITION_KEY = "x-ms-documentdb-partitionkey"
BATCH = {
    "x-ms-cosmos-is-batch-request": "True",
    "x-ms-cosmos-batch-atomic": "True",
    PARTITION_KEY: '["a"]',
}
BULK = {
    "x-ms-cosmos-is-batch-request": "True",
    "x-ms-cosmos-batch-atomic": "False",
    "x-ms-cosmos-batch-continue-on-error": "True",
    "x-ms-documentdb-partitionkeyrangeid": "0",
}
A = {PARTITION_KEY: '["a"]'}


def http_date(offset=0.0):
    """Returns the time in `offset` seconds in the format of headers."""
    return email.utils.formatdate(time.time() + offset, usegmt=True)


def authorization(verb, path, date, key=KEY):
    """Returns the authorization header of a correctly signed request."""
    return signature.authorization(verb, *signature.whose(path), date, key)


def octets(text):
    return text if isinstance(text, bytes) else str(text).encode("utf-8", "surrogateescape")


def request(
    verb, path, body=None, headers=None, *, key=KEY, extra=(), version="HTTP/1.1", date=None
):
    """Returns a request's bytes. `headers` replace the usual ones, None removes one; `extra` are
    pairs that are added in any case."""
    date = http_date() if date is None else date
    if body is not None and not isinstance(body, (bytes, str)):
        body = json.dumps(body)
    body = None if body is None else octets(body)
    found = {
        "host": "localhost",
        "x-ms-date": date,
        "x-ms-version": "2020-07-15",
        "accept": "application/json",
        "authorization": authorization(verb, path, date, key),
    }
    if body is not None or verb in ("POST", "PUT", "PATCH"):
        found["content-type"] = "application/json"
        found["content-length"] = str(len(body or b""))
    found.update(headers or {})
    lines = [octets(verb) + b" " + octets(path) + b" " + octets(version)]
    for name, value in [*found.items(), *extra]:
        if value is not None:
            lines.append(octets(name) + b": " + octets(value))
    return b"\r\n".join(lines) + b"\r\n\r\n" + (body or b"")


def query(text, parameters=(), path="/dbs/data/colls/c/docs", headers=None, **options):
    """Returns the request of a query."""
    body = {"query": text, "parameters": list(parameters)}
    return request("POST", path, body, {**QUERY, **(headers or {})}, **options)


class Reply(nosql.Reply):
    """A reply that is parsed strictly."""

    @property
    def closes(self):
        return self.headers.get("connection", "").lower() == "close"

    @property
    def is_bare(self):
        """Whether the request was refused below the protocol, without a body."""
        return not self.body

    def errors(self):
        """Returns the errors in the message: texts, or objects if a query does not compile."""
        about = self.json
        assert about["code"] == NAMES.get(self.status), self
        assert set(about) <= {"code", "message", "additionalErrorInfo"}, self
        found = MESSAGE.fullmatch(about["message"])
        assert found, f"a message of no known form: {self}"
        assert found[2] == self.headers.get("x-ms-activity-id"), self
        inner = json.loads(found[1])
        ((name, errors),) = inner.items()
        assert name in ("Errors", "errors") and errors, self
        if name == "Errors":
            assert all(isinstance(text, str) and text for text in errors), self
        else:
            for error in errors:
                assert error["severity"] == "Error" and error["message"], self
                assert re.fullmatch("SC[0-9]{4}", error["code"]), self
        return errors

    def texts(self):
        """Returns the texts of all errors."""
        return [it if isinstance(it, str) else it["message"] for it in self.errors()]


class Wire(wire.Wire):
    """A connection that speaks HTTP, or HTTP inside TLS."""

    def __init__(self, address, tls=False, timeout=10.0):
        super().__init__(address, timeout)
        if tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
            self.socket = context.wrap_socket(self.socket, server_hostname="localhost")

    def more(self, until):
        """Waits for bytes; returns whether any came before the end of the stream."""
        left = until - time.monotonic()
        if left <= 0:
            raise Silence(f"{len(self.read)} bytes, then silence: {self.read[:200]!r}")
        self.socket.settimeout(left)
        try:
            part = self.socket.recv(1 << 18)
        except TimeoutError:
            return self.more(until)
        except (ConnectionResetError, BrokenPipeError, ssl.SSLError):
            part = b""
        self.read += part
        return bool(part)

    def take(self, count, until):
        while len(self.read) < count:
            if not self.more(until):
                raise AssertionError(f"closed within an answer: {self.read[:300]!r}")
        taken, self.read = self.read[:count], self.read[count:]
        return taken

    def line(self, until):
        while b"\r\n" not in self.read:
            if not self.more(until):
                raise AssertionError(f"closed within an answer: {self.read[:300]!r}")
        line, self.read = self.read.split(b"\r\n", 1)
        return line

    def reply(self, within=WITHIN, verb="GET"):
        """Returns the next reply, or None if the server closed the connection instead."""
        until = time.monotonic() + within
        if not self.read and not self.more(until):
            return None
        version, status, *_ = self.line(until).split(b" ")
        assert version in (b"HTTP/1.1", b"HTTP/1.0"), f"no answer: {version!r} {self.read[:200]!r}"
        headers = []
        while line := self.line(until):
            name, value = line.decode("latin-1").split(":", 1)
            assert re.fullmatch(r"[!-9;-~]+", name), f"a header of the name {name!r}"
            headers.append((name.lower(), value.strip()))
        assert len(dict(headers)) == len(headers), f"a header twice: {headers}"
        reply = Reply(int(status), dict(headers), b"")
        if verb == "HEAD" or reply.status in (204, 304) or reply.status < 200:
            return reply
        assert "transfer-encoding" not in reply.headers, "an answer in chunks"
        length = int(reply.headers["content-length"])
        assert length <= LARGEST_ANSWER, f"an answer of {length} bytes"
        reply.body = self.take(length, until)
        return reply

    def rest(self, within=WITHIN):
        """Returns all bytes until the server closes the connection."""
        until = time.monotonic() + within
        while self.more(until):
            pass
        return self.read

    def ask(self, data, within=WITHIN):
        """Sends bytes; returns the reply, or None if the server closed the connection instead."""
        self.send(data)
        return self.reply(within, "HEAD" if data.startswith(b"HEAD ") else "GET")

    def good(self, within=WITHIN):
        """Sends a valid request, which has to be served."""
        reply = self.ask(request("GET", "/dbs"), within)
        assert reply is not None and reply.status == 200, f"a good request is refused: {reply}"

    def ended(self, within=WITHIN):
        """Checks that the server closes the connection without sending another byte."""
        until = time.monotonic() + within
        assert not self.read, f"bytes behind the answer: {self.read[:200]!r}"
        assert not self.more(until), f"bytes where an end was due: {self.read[:200]!r}"

    def usable(self, reply=None):
        """Checks that the connection serves the next request, or is closed cleanly."""
        if reply is not None and reply.closes:
            return self.ended()
        assert not self.read, f"bytes behind the answer: {self.read[:200]!r}"
        answer = self.ask(request("GET", "/dbs"))
        assert answer is None or answer.status == 200, f"then {answer}"
        return None
