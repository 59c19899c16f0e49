"""A client that sends raw bytes: frames are packed by hand and can be malformed."""

import struct
import time

import bson
from bson.codec_options import CodecOptions, DatetimeConversion
from lib import wire
from lib.wire import WITHIN, Silence

from badinput.raw import document

OP_REPLY, OP_QUERY, OP_COMPRESSED, OP_MSG = 1, 2004, 2012, 2013
LARGEST_MESSAGE = 48_000_000
LARGEST_DOCUMENT = 16 * 1024 * 1024
#: Dates may be any 64 bits.
CODEC = CodecOptions(datetime_conversion=DatetimeConversion.DATETIME_MS)


def frame(code, payload, length=None, request=7):
    """Returns a message; `length` overrides the length in the header."""
    length = 16 + len(payload) if length is None else length
    return struct.pack("<iiii", length, request, 0, code) + payload


def section(body):
    return b"\0" + document(body)


def sequence(name, documents, length=None):
    """Returns a section of kind 1."""
    name = name if isinstance(name, bytes) else name.encode()
    content = name + b"\0" + b"".join(document(it) for it in documents)
    return b"\x01" + struct.pack("<i", len(content) + 4 if length is None else length) + content


def msg(body, *sections, flags=0, **header):
    """Returns an OP_MSG with a body and further sections, which are bytes."""
    return frame(OP_MSG, struct.pack("<I", flags) + section(body) + b"".join(sections), **header)


def op_query(namespace, body, skip=0, limit=-1):
    head = struct.pack("<i", 0) + namespace.encode() + b"\0" + struct.pack("<ii", skip, limit)
    return frame(OP_QUERY, head + document(body))


def compressed(message, compressor, packed, size=None, code=None):
    """Returns a message in OP_COMPRESSED; `packed` is its compressed payload."""
    inner = struct.unpack("<i", message[12:16])[0] if code is None else code
    size = len(message) - 16 if size is None else size
    return frame(OP_COMPRESSED, struct.pack("<iiB", inner, size, compressor) + packed)


def timeless(reply):
    """Returns the bytes of a reply before the cluster time, which any write advances."""
    return reply.partition(b"\x03$clusterTime\0")[0]


#: Maximum size of the first message of a connection.
FIRST_MESSAGE = 64 * 1024


def command(first, *fields, db="test", **more):
    """Returns a command's pairs: its name, the fields, the database."""
    return [first, *fields, *more.items(), ("$db", db)]


class Wire(wire.Wire):
    """A connection that sends and receives messages."""

    #: Whether a message has been sent on it.
    known = False

    def send(self, data, within=10.0):
        """Sends a small message first: a large first one would be refused for its size."""
        claimed = int.from_bytes(data[:4], "little")
        if not self.known and max(claimed, len(data)) > FIRST_MESSAGE:
            self.known = True
            assert super().send(msg([("ping", 1), ("$db", "admin")]))
            assert self.frame()
        self.known = True
        return super().send(data, within)

    def exactly(self, count, until):
        parts, missing, self.read = [self.read], count - len(self.read), b""
        while missing > 0:
            left = until - time.monotonic()
            if left <= 0:
                raise Silence(f"{count - missing} of {count} bytes, then silence")
            self.socket.settimeout(left)
            try:
                part = self.socket.recv(min(missing, 1 << 20))
            except TimeoutError:
                continue
            except ConnectionResetError:
                part = b""
            if not part:
                return None
            parts.append(part)
            missing -= len(part)
        return b"".join(parts)

    def frame(self, within=WITHIN):
        """Returns the next message as (request, answers, code, payload), or None if closed."""
        until = time.monotonic() + within
        head = self.exactly(16, until)
        if head is None:
            return None
        length, request, answers, code = struct.unpack("<iiii", head)
        assert 16 <= length <= LARGEST_MESSAGE, f"a reply of {length} bytes"
        payload = self.exactly(length - 16, until)
        return None if payload is None else (request, answers, code, payload)

    def reply_bytes(self, within=WITHIN):
        """Returns the document of the next reply, or None if the server closed the connection."""
        got = self.frame(within)
        if got is None:
            return None
        _, _, code, payload = got
        if code == OP_MSG:
            assert payload[4] == 0, "a reply without a body"
            end = 5 + struct.unpack("<i", payload[5:9])[0]
            assert end + 4 * (payload[0] & 1) == len(payload), "bytes behind the reply's body"
            return payload[5:end]
        assert code == OP_REPLY, f"a reply of kind {code}"
        return payload[20:]

    def reply(self, within=WITHIN):
        data = self.reply_bytes(within)
        return None if data is None else bson.decode(data, CODEC)

    def ask(self, message, within=WITHIN):
        """Sends bytes; returns the reply, or None if the server closed the connection instead."""
        self.send(message)
        return self.reply(within)

    def run(self, first, *fields, db="test", within=WITHIN, **more):
        """Runs a command; returns its reply."""
        reply = self.ask(msg(command(first, *fields, db=db, **more)), within)
        assert reply is not None, f"closed after {first[0]}"
        return reply
