"""Crowds of clients of either API: more clients than file descriptors, clients that never read,
clients that send bad messages.

`data` is the bytes of a request; `served` tells whether a reply to it is correct.
"""

import contextlib
import os
import resource
import time


@contextlib.contextmanager
def descriptors(wanted):
    """Raises the limit of file descriptors of this process and of servers that it starts."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(wanted, hard), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def raise_limit(server, wanted):
    """Raises the limit of file descriptors of a running server."""
    pid = server.process.pid
    _, hard = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (min(hard, wanted), hard))


def more_than_descriptors(attacked, data, served):
    """More clients connect than the server has descriptors for: some are refused or wait, the
    others are served. Afterwards new clients are served and writes succeed: the store, whose files
    may have failed to open too, recovers automatically."""
    pid = attacked.server.process.pid
    soft, hard = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    held = len(os.listdir(f"/proc/{pid}/fd"))
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (held + 20, hard))
    try:
        wires = [attacked.wire() for _ in range(60)]
        for wire in wires:
            wire.send(data)
        attacked.health()
        assert served(wires[0].reply())
        for wire in wires:
            wire.close()
    finally:
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (soft, hard))
    until, well = time.monotonic() + 5, 0
    # The store checks every 0.1 s whether it can write: five successes in a row are needed.
    while well < 5:
        with attacked.wire() as wire:
            wire.send(data)
            try:
                assert served(wire.reply())
                assert attacked.server.ready() == (200, "ok\n")
                well += 1
            except AssertionError:
                if until < time.monotonic():
                    raise
                well = 0
            time.sleep(0.1)


def vandals(attacked, messages):
    """Many clients send one bad message each. The log must not grow by a line for each."""
    before = len(attacked.log())
    for data in messages:
        with attacked.wire() as wire:
            wire.send(data)
    attacked.health()
    assert len(attacked.log()) - before < 64 << 10


def deaf(attacked, data, most):
    """Clients send requests without end and never read the replies; `most` limits the memory for
    each."""
    before = attacked.server.rss()
    wires = [attacked.wire() for _ in range(4)]
    for wire in wires:
        wire.socket.setblocking(False)
        for _ in range(100_000):
            try:
                wire.socket.send(data)
            except BlockingIOError:
                break
    with attacked.undisturbed():
        time.sleep(0.5)
    grown = attacked.server.rss() - before
    assert grown < 4 * most, f"{grown >> 20} MiB are held for 4 clients that do not read"
    for wire in wires:
        wire.reset()


def deaf_to_refusals(attacked, data, most, ends=(TimeoutError,)):
    """A client sends a large request repeatedly and reads none of the refusals. `ends` are the
    exceptions that stop it from sending.
    """
    before = attacked.server.rss()
    with attacked.wire() as wire, attacked.undisturbed():
        wire.socket.settimeout(0.5)
        with contextlib.suppress(*ends):
            # `send` sends a small message first if the API needs one.
            wire.send(data, within=0.5)
            for _ in range(19):
                wire.socket.sendall(data)
    assert attacked.server.rss() - before < most


def slow(attacked, starts, within, ended):
    """Clients start a message and then send nothing more. The server waits for them, and closes the
    connection after at most `within` seconds (None: not checked). `ended` tells whether a wire was
    closed within a given time."""
    wires = [attacked.wire() for _ in starts]
    for wire, start in zip(wires, starts, strict=True):
        wire.send(start)
    if within is None:
        assert all(wire.silent(0.05) for wire in wires)
        return
    until = time.monotonic() + within
    for wire, start in zip(wires, starts, strict=True):
        assert ended(wire, max(0.1, until - time.monotonic())), f"{len(start)} bytes"
