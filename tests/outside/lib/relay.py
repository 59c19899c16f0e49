"""A link that can be cut in each direction: bytes wait where they are, as on a network that has
lost its way, and go on or are lost when it is mended."""

import asyncio
import contextlib
import socket
import threading

#: From who connects to who listens, and back.
THERE, BACK = "there", "back"


class Loop:
    """The thread that passes bytes on, for all relays."""

    def __init__(self):
        self.loop = asyncio.new_event_loop()
        threading.Thread(target=self.loop.run_forever, daemon=True, name="relays").start()

    def run(self, what):
        return asyncio.run_coroutine_threadsafe(what, self.loop).result(30)


LOOP = Loop()


def listener(address=("127.0.0.1", 0)):
    """A socket that listens, of the network namespace of the thread that asks."""
    made = socket.socket()
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    made.bind(address)
    made.listen(128)
    made.setblocking(False)
    return made


def outgoing():
    """A socket that is not connected yet, likewise."""
    made = socket.socket()
    made.setblocking(False)
    return made


class Relay:
    """Passes on what comes to a listening socket; `outgoing` makes the sockets to the target."""

    def __init__(self, listening, target=None, outgoing=outgoing):
        self.listening, self.target, self.outgoing = listening, target, outgoing
        self.address = listening.getsockname()
        self.writers = set()
        LOOP.run(self.open())

    async def open(self):
        self.gates = {THERE: asyncio.Event(), BACK: asyncio.Event()}
        for gate in self.gates.values():
            gate.set()
        self.server = await asyncio.start_server(self.serve, sock=self.listening)

    async def serve(self, reader, writer):
        self.writers.add(writer)
        try:
            made = self.outgoing()
            await LOOP.loop.sock_connect(made, self.target)
            far_reader, far_writer = await asyncio.open_connection(sock=made)
        except OSError:
            # As the target itself would: who connects sees its end.
            writer.transport.abort()
            self.writers.discard(writer)
            return
        self.writers.add(far_writer)
        ways = (self.pump(reader, far_writer, THERE), self.pump(far_reader, writer, BACK))
        await asyncio.gather(*ways)
        for one in (writer, far_writer):
            self.writers.discard(one)
            one.close()

    async def pump(self, reader, writer, way):
        with contextlib.suppress(OSError):
            while True:
                data = await reader.read(1 << 16)
                await self.gates[way].wait()
                if not data:
                    writer.write_eof()
                    return
                writer.write(data)
                await writer.drain()
            return
        # A reset is passed on too.
        await self.gates[way].wait()
        writer.transport.abort()

    def cut(self, *ways):
        """Passes nothing on in these directions, by default in both."""

        async def close():
            for way in ways or (THERE, BACK):
                self.gates[way].clear()

        LOOP.run(close())

    def mend(self, drop=False):
        """Passes on again; `drop` ends all connections and loses what waits."""

        async def open():
            if drop:
                for writer in list(self.writers):
                    writer.transport.abort()
            for gate in self.gates.values():
                gate.set()

        LOOP.run(open())

    def close(self):
        async def close():
            self.server.close()
            for gate in self.gates.values():
                gate.set()
            for writer in list(self.writers):
                writer.transport.abort()

        LOOP.run(close())
