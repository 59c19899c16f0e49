"""Free ports for servers that must know their port before they listen on it."""

import random
import socket

#: Below the ephemeral range, from which the system may give the port to another process's
#: connection before the server binds it.
LOWEST, HIGHEST = 10_000, 32_000
#: Not seeded: concurrent suites may share a seed.
CHOICE = random.SystemRandom()


def free_port():
    """Returns a port that was free just now, outside the ephemeral range."""
    while True:
        port = CHOICE.randint(LOWEST, HIGHEST)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
