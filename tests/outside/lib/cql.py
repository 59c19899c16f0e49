"""One statement to Apache Cassandra, in its native protocol, for what no `ebb` would do."""

import socket
import struct

#: Of the protocol's version 4.
STARTUP, QUERY, ERROR = 0x01, 0x07, 0x00
QUORUM = 0x0004


def frame(opcode, body):
    return struct.pack("!BBhBi", 4, 0, 0, opcode, len(body)) + body


def answer(connection):
    header = connection.recv(9, socket.MSG_WAITALL)
    opcode, length = struct.unpack("!BBhBi", header)[3:]
    body = connection.recv(length, socket.MSG_WAITALL) if length else b""
    assert opcode != ERROR, body
    return body


def execute(address, statement):
    """Executes a statement and waits until it is done."""
    with socket.create_connection(address, timeout=30) as connection:
        options = struct.pack("!H", 1)
        for text in (b"CQL_VERSION", b"3.0.0"):
            options += struct.pack("!H", len(text)) + text
        connection.sendall(frame(STARTUP, options))
        answer(connection)
        text = statement.encode()
        connection.sendall(
            frame(QUERY, struct.pack("!i", len(text)) + text + struct.pack("!HB", QUORUM, 0))
        )
        answer(connection)
