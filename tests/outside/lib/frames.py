"""A client of the NoSQL API in direct mode: sends frames over TLS. `Direct` has the interface of
`lib.nosql.Client`, and sends to the gateway what direct mode does not have, as SDKs do.
"""

import itertools
import json
import socket
import ssl
import struct
import uuid
from email.utils import formatdate

from lib.nosql import Client, Reply
from lib.signature import KEY, authorization

BYTE, USHORT, ULONG, LONG, ULONGLONG, LONGLONG, GUID = range(7)
SMALL_STRING, STRING, ULONG_STRING, SMALL_BYTES, BYTES, ULONG_BYTES, FLOAT, DOUBLE = range(7, 15)
FIXED = {
    BYTE: "<B",
    USHORT: "<H",
    ULONG: "<I",
    LONG: "<i",
    ULONGLONG: "<Q",
    LONGLONG: "<q",
    FLOAT: "<f",
    DOUBLE: "<d",
}
PREFIXED = {
    SMALL_STRING: "<B",
    SMALL_BYTES: "<B",
    STRING: "<H",
    BYTES: "<H",
    ULONG_STRING: "<I",
    ULONG_BYTES: "<I",
}
DOCUMENT = 3
OPERATIONS = {
    "create": 1,
    "patch": 2,
    "read": 3,
    "feed": 4,
    "delete": 5,
    "replace": 6,
    "query": 15,
    "upsert": 19,
    "batch": 37,
}
#: Paths of addresses that any node of a cluster serves, and that only the owner of the data serves.
ANY = "/apps/ebb/services/nosql/partitions/p/replicas/1p"
OWNER = "/apps/ebb/services/owner/partitions/p/replicas/1p"
VERBS = {"read": "get", "feed": "get", "delete": "delete", "replace": "put", "patch": "patch"}
#: Header: (token, kind, value).
TOKENS = {
    "x-ms-max-item-count": (4, ULONG, lambda text: int(text) & 0xFFFFFFFF),
    "x-ms-session-token": (5, STRING, str),
    "x-ms-continuation": (6, STRING, str),
    "if-match": (8, STRING, str),
    "if-none-match": (8, STRING, str),
    "x-ms-consistency-level": (
        16,
        BYTE,
        ["Strong", "BoundedStaleness", "Session", "Eventual", "ConsistentPrefix"].index,
    ),
    "x-ms-documentdb-partitionkey": (43, STRING, str),
    "x-ms-documentdb-partitionkeyrangeid": (44, STRING, str),
    "a-im": (63, STRING, str),
    "x-ms-documentdb-populatequerymetrics": (66, BYTE, lambda text: text.lower() == "true"),
    "if-modified-since": (71, STRING, str),
    "x-ms-start-epk": (98, BYTES, str.encode),
    "x-ms-end-epk": (99, BYTES, str.encode),
    "x-ms-cosmos-batch-atomic": (115, BYTE, lambda text: text.lower() == "true"),
    "x-ms-cosmos-batch-continue-on-error": (116, BYTE, lambda text: text.lower() == "true"),
    "prefer": (130, BYTE, lambda text: text == "return=minimal"),
}
#: Headers whose meaning the operation has.
OF_OPERATION = {
    "content-type",
    "x-ms-documentdb-isquery",
    "x-ms-documentdb-query-enablecrosspartition",
    "x-ms-documentdb-is-upsert",
    "x-ms-cosmos-is-batch-request",
    "x-ms-read-key-type",
}
#: Token of an answer: its header.
HEADERS = {
    3: "x-ms-continuation",
    4: "etag",
    20: "x-ms-item-count",
    28: "x-ms-substatus",
    40: "x-ms-documentdb-query-metrics",
}


def token(id, kind, value):
    head = struct.pack("<HB", id, kind)
    if kind in FIXED:
        return head + struct.pack(FIXED[kind], value)
    if kind == GUID:
        return head + value.bytes_le
    if isinstance(value, str):
        value = value.encode("utf-8", "surrogateescape")
    return head + struct.pack(PREFIXED[kind], len(value)) + value


def tokens(data):
    """Returns {id: value} of the tokens of an answer."""
    found, at = {}, 0
    while at < len(data):
        id, kind = struct.unpack_from("<HB", data, at)
        at += 3
        if kind in FIXED:
            (value,) = struct.unpack_from(FIXED[kind], data, at)
            at += struct.calcsize(FIXED[kind])
        else:
            size = 16
            if kind != GUID:
                (size,) = struct.unpack_from(PREFIXED[kind], data, at)
                at += struct.calcsize(PREFIXED[kind])
            value = data[at : at + size]
            at += size
        assert id not in found, f"token {id:#x} twice"
        found[id] = value
    return found


def frame(resource, operation, all_tokens, body=None, activity=None):
    """Returns a request; `all_tokens` are encoded tokens."""
    rest = struct.pack("<HH", resource, operation) + (activity or uuid.uuid4()).bytes_le
    rest += b"".join(all_tokens)
    data = struct.pack("<I", len(rest) + 4) + rest
    return data if body is None else data + struct.pack("<I", len(body)) + body


def context():
    """Returns a client's context."""
    return frame(
        0,
        0,
        [
            token(0, ULONG, 1),
            token(1, SMALL_STRING, "2020-07-15"),
            token(2, SMALL_STRING, "tests"),
        ],
    )


def tls(address, timeout=60):
    """Returns a TLS connection that does not verify the certificate."""
    settings = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    settings.check_hostname, settings.verify_mode = False, ssl.CERT_NONE
    plain = socket.create_connection(address, timeout=timeout)
    return settings.wrap_socket(plain, server_hostname=address[0])


class Closed(ConnectionError):
    """The server closed the connection."""


class Connection:
    """One connection in direct mode."""

    def __init__(self, address, key=KEY, timeout=60, greet=True, replica=ANY):
        self.replica = replica
        self.key, self.numbers, self.buffer = key, itertools.count(1), b""
        self.socket = tls(address, timeout)
        if greet:
            self.socket.sendall(context())
            assert self.head()[0] == 200

    def close(self):
        self.socket.close()

    def exactly(self, size):
        while len(self.buffer) < size:
            data = self.socket.recv(1 << 16)
            if not data:
                raise Closed
            self.buffer += data
        data, self.buffer = self.buffer[:size], self.buffer[size:]
        return data

    def head(self):
        size, status = struct.unpack("<II", self.exactly(8))
        assert 24 <= size < 1 << 20, size
        self.exactly(16)
        return status, tokens(self.exactly(size - 24))

    def answer(self):
        """Returns (number of the request, reply)."""
        status, found = self.head()
        body = self.exactly(struct.unpack("<I", self.exactly(4))[0]) if found[0] else b""
        headers = {
            name: value.decode() if isinstance(value, bytes) else str(value)
            for id, name in HEADERS.items()
            if (value := found.get(id)) is not None
        }
        if 0x3E in found:
            headers["x-ms-session-token"] = "0:" + found[0x3E].decode()
        # Without these an SDK repeats a read of an item that does not exist.
        assert found[0x13] >= 0 and found[0x3A] == found[0x13], found
        return found[0x35], Reply(status, headers, body)

    def request(self, operation, names, more=(), body=None, sent=None, date=None):
        """Returns (number, bytes) of a request about items."""
        number, date = next(self.numbers), date or formatdate(usegmt=True)
        words = ("dbs", "colls", "docs")[: len(names)]
        link = "/".join(f"{word}/{name}" for word, name in zip(words, names, strict=True))
        verb = VERBS.get(operation, "post")
        sent = authorization(verb, "docs", link, date, self.key) if sent is None else sent
        data = frame(
            DOCUMENT,
            OPERATIONS[operation],
            [
                token(1, STRING, sent),
                token(2, BYTE, int(bool(body))),
                token(3, SMALL_STRING, date),
                token(0x13, STRING, self.replica),
                token(0x4D, ULONG, number),
                *(token(0x15 + at, STRING, name) for at, name in enumerate(names)),
                *more,
            ],
            body or None,
        )
        return number, data

    def ask(self, *given, **more):
        number, data = self.request(*given, **more)
        self.socket.sendall(data)
        answered, reply = self.answer()
        assert answered == number, (answered, number)
        return reply


def operation_of(method, names, headers):
    """Returns the operation that a request has in direct mode."""
    if method == "GET":
        return "read" if len(names) == 3 else "feed"
    if method != "POST":
        return {"PUT": "replace", "PATCH": "patch", "DELETE": "delete"}[method]
    marked = {name for name, text in headers.items() if text.lower() == "true"}
    if "x-ms-cosmos-is-batch-request" in marked:
        return "batch"
    if "x-ms-documentdb-isquery" in marked:
        return "query"
    return "upsert" if "x-ms-documentdb-is-upsert" in marked else "create"


class Direct(Client):
    """A client in direct mode; requests that are not about items go to the gateway."""

    def __init__(self, address, key=KEY, timeout=60, replica=ANY):
        super().__init__(address, key, timeout)
        self.frames, self.replica = None, replica

    def again(self):
        return Direct(self.address, self.key, self.timeout, self.replica)

    def close(self):
        super().close()
        if self.frames:
            self.frames.close()
        self.frames = None

    def call(self, method, path, body=None, headers=(), signed=None):
        headers = {name.lower(): text for name, text in dict(headers).items()}
        parts = path.strip("/").split("/", 5)
        known = len(parts) in (5, 6) and parts[::2] == ["dbs", "colls", "docs"]
        if not known or signed or set(headers) - set(TOKENS) - OF_OPERATION:
            return super().call(method, path, body, headers, signed)
        names = parts[1::2]
        operation = operation_of(method, names, headers)
        more = [
            token(*TOKENS[name][:2], TOKENS[name][2](text))
            for name, text in headers.items()
            if name in TOKENS
        ]
        if "x-ms-start-epk" in headers:
            more.append(token(100, BYTE, 3))
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
        if self.frames is None:
            self.frames = Connection(self.address, self.key, self.timeout, replica=self.replica)
        try:
            return self.frames.ask(operation, names, more, body)
        except BaseException:
            self.close()
            raise
