"""Sends a single statement to Apache Cassandra in its native protocol, without `ebb`."""

import socket
import struct

#: Opcodes and a consistency level of version 4 of the protocol.
STARTUP, QUERY, ERROR = 0x01, 0x07, 0x00
QUORUM = 0x0004
#: The result kind of rows, and its flag when all columns belong to one table.
ROWS, GLOBAL_NAMES = 0x0002, 0x0001


def frame(opcode, body):
    return struct.pack("!BBhBi", 4, 0, 0, opcode, len(body)) + body


def answer(connection):
    header = connection.recv(9, socket.MSG_WAITALL)
    opcode, length = struct.unpack("!BBhBi", header)[3:]
    body = connection.recv(length, socket.MSG_WAITALL) if length else b""
    assert opcode != ERROR, body
    return body


def execute(address, statement):
    """Executes a statement, waits for its result, and returns the rows of its first page, each a
    list of the columns' bytes."""
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
        return rows(answer(connection))


def rows(body):
    """Returns a result's rows; none for other kinds. Columns must have simple types."""
    kind, flags, columns = struct.unpack_from("!iii", body + bytes(12))
    if kind != ROWS:
        return []
    assert flags == GLOBAL_NAMES, "a result of several pages, or of several tables"
    at = 12
    # The names of keyspace and table, then the name and type of each column.
    for strings in [2] + [1] * columns:
        for _ in range(strings):
            at += 2 + struct.unpack_from("!H", body, at)[0]
        at += 0 if strings == 2 else 2
    (count,) = struct.unpack_from("!i", body, at)
    at += 4
    found = []
    for _ in range(count):
        row = []
        for _ in range(columns):
            (length,) = struct.unpack_from("!i", body, at)
            at += 4
            row.append(None if length < 0 else body[at : at + length])
            at += max(length, 0)
        found.append(row)
    return found
