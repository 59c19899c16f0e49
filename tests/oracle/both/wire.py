"""A connection that sends commands as raw OP_MSG, so that no driver changes them."""

import socket
import struct

import bson
from bson.codec_options import CodecOptions, DatetimeConversion
from bson.son import SON

OP_MSG = 2013
HEADER = struct.Struct("<iiii")
CODEC = CodecOptions(
    document_class=SON,
    datetime_conversion=DatetimeConversion.DATETIME_MS,
    unicode_decode_error_handler="replace",
)


class Connection:
    """`send` sends commands and `receive` returns the replies in order."""

    def __init__(self, address):
        self.socket = socket.create_connection(address, 30)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.incoming = self.socket.makefile("rb", 1 << 16)
        self.sent = 0

    def send(self, command):
        self.sent += 1
        body = b"\0\0\0\0\0" + bson.encode(command)
        self.socket.sendall(HEADER.pack(16 + len(body), self.sent, 0, OP_MSG) + body)

    def receive(self):
        header = self.incoming.read(HEADER.size)
        if len(header) < HEADER.size:
            raise ConnectionError("the server closed the connection")
        length, _, _, opcode = HEADER.unpack(header)
        body = self.incoming.read(length - HEADER.size)
        assert opcode == OP_MSG and body[4] == 0, (opcode, body[:5])
        return bson.decode(body[5:], CODEC)

    def command(self, command):
        self.send(command)
        return self.receive()

    def close(self):
        self.incoming.close()
        self.socket.close()
