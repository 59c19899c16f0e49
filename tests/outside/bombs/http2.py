"""A minimal HTTP/2 client that requests on many streams and never opens a window for replies."""

import struct

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, SETTINGS = 0, 1, 4
END_STREAM, END_HEADERS = 1, 4
INITIAL_WINDOW_SIZE = 4


def frame(kind, flags, stream, payload=b""):
    return (
        struct.pack(">I", len(payload))[1:]
        + bytes([kind, flags])
        + struct.pack(">I", stream)
        + payload
    )


def settings(**values):
    window = struct.pack(">HI", INITIAL_WINDOW_SIZE, values["window"])
    return PREFACE + frame(SETTINGS, 0, 0, window)


def text(value):
    """Encodes a string literal without compression; a length of 127 or more takes several bytes."""
    data, out = value.encode(), b""
    if len(data) < 127:
        return bytes([len(data)]) + data
    rest = len(data) - 127
    while rest >= 128:
        out, rest = out + bytes([rest % 128 + 128]), rest // 128
    return b"\x7f" + out + bytes([rest]) + data


def request(stream, method, path, headers, body=b""):
    """Returns a request on a stream of its own, without use of the header tables."""
    pairs = {
        ":method": method,
        ":scheme": "http",
        ":path": path,
        ":authority": "localhost",
        **headers,
    }
    block = b"".join(b"\x00" + text(name) + text(value) for name, value in pairs.items())
    end = END_HEADERS | (0 if body else END_STREAM)
    return frame(HEADERS, end, stream, block) + (
        frame(DATA, END_STREAM, stream, body) if body else b""
    )
