"""Crowds of clients at either door: more than there are descriptors, deaf ones, and vandals.

`data` are bytes of a request, `served` says whether a reply to it is the right one.
"""

import contextlib
import os
import resource
import time


@contextlib.contextmanager
def descriptors(wanted):
    """This process and the servers that it starts may hold so many sockets."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(wanted, hard), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def raise_limit(server, wanted):
    """The same for a server that runs."""
    pid = server.process.pid
    _, hard = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (min(hard, wanted), hard))


def more_than_descriptors(attacked, data, served):
    """Who cannot be served is turned away or waits; who is served goes on; then there is room, and
    writes are taken: the store, which may have found no descriptor either, opens itself again."""
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
    # The store looks every tenth of a second whether it still writes: five good looks in a row.
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
    """A flood of bad messages, each by a client of its own, is no flood of lines."""
    before = len(attacked.log())
    for data in messages:
        with attacked.wire() as wire:
            wire.send(data)
    attacked.health()
    assert len(attacked.log()) - before < 64 << 10


def deaf(attacked, data, most):
    """Clients that ask without end and never read; `most` is the memory that one may cost."""
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
    """A client that sends something large again and again, and reads none of the refusals.

    `ends` is what stops it from sending.
    """
    before = attacked.server.rss()
    with attacked.wire() as wire, attacked.undisturbed():
        wire.socket.settimeout(0.5)
        with contextlib.suppress(*ends):
            # The first message of a conversation may have to be a small one: `send` sees to that.
            wire.send(data, within=0.5)
            for _ in range(19):
                wire.socket.sendall(data)
    assert attacked.server.rss() - before < most


def slow(attacked, starts, within, ended):
    """Clients that begin a message and do no more are waited for, and (`within` so many seconds;
    None: that is not awaited) left; `ended` asks a wire whether it was, in the time that is
    left."""
    wires = [attacked.wire() for _ in starts]
    for wire, start in zip(wires, starts, strict=True):
        wire.send(start)
    if within is None:
        assert all(wire.silent(0.05) for wire in wires)
        return
    until = time.monotonic() + within
    for wire, start in zip(wires, starts, strict=True):
        assert ended(wire, max(0.1, until - time.monotonic())), f"{len(start)} bytes"
