"""Ports for servers that have to be told theirs before they listen on it."""

import random
import socket

#: Systems give ports above to those who ask for any: a connection of somebody else may get one of
#: them before the server does.
LOWEST, HIGHEST = 10_000, 32_000
#: Not repeated by a seed: suites beside each other may have the same.
CHOICE = random.SystemRandom()


def free_port():
    """A port on which nobody listened just now, and that nobody gets who does not name it."""
    while True:
        port = CHOICE.randint(LOWEST, HIGHEST)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
