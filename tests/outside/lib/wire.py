"""One connection to which a test writes raw bytes. Subclasses for each API read the replies."""

import os
import socket
import ssl
import struct

#: Limit of the time of a reply in seconds; PATIENCE multiplies it for a busy machine.
WITHIN = 1.0 * float(os.environ.get("PATIENCE", "1"))
#: How a client may leave in the middle of a message.
ENDS = ("silence", "FIN", "RST", "half")


class Silence(AssertionError):
    """The server neither replied nor closed the connection in time."""


class Wire:
    """A connection on which a test sends raw bytes."""

    #: Number of sends on all connections.
    sends = 0

    def __init__(self, address, timeout=10.0, source=None):
        """`source` is the local address of the connection, such as 127.0.0.2."""
        self.address = address
        come = source and (source, 0)
        self.socket = socket.create_connection(address, timeout=timeout, source_address=come)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        #: Received bytes that have not been consumed yet.
        self.read = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.socket.close()

    def reset(self):
        """Closes the connection with RST instead of FIN."""
        linger = struct.pack("ii", 1, 0)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        self.socket.close()

    def leave(self, number):
        """Closes the connection, for odd numbers with RST."""
        self.reset() if number % 2 else self.close()

    def send(self, data, within=10.0):
        """Sends as much as the server takes; returns whether it took all."""
        Wire.sends += 1
        self.socket.settimeout(within)
        try:
            self.socket.sendall(data)
            return True
        except (BrokenPipeError, ConnectionResetError, ssl.SSLError):
            return False

    def half_close(self):
        """Stops sending, but still reads."""
        self.socket.shutdown(socket.SHUT_WR)

    def silent(self, seconds):
        """Returns whether for `seconds` nothing arrives and the connection stays open."""
        self.socket.settimeout(seconds)
        try:
            self.read += self.socket.recv(1)
        except TimeoutError:
            return True
        except ConnectionResetError:
            pass
        return False

    def leave_within(self, data, sent, end):
        """Sends the first `sent` bytes of a message (-1: all but one) and leaves in the way of
        `end`; with `half` replies may still be read."""
        self.send(data[:sent] if sent >= 0 else data[:-1])
        if end == "half":
            self.half_close()
        elif end == "RST":
            self.reset()
        else:
            assert end == "FIN" or self.silent(0.05)
            self.close()
