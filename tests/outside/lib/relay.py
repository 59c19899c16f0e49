"""A link that can be cut in each direction: bytes wait where they are, as on a network that has
lost its way, and go on or are lost when it is mended. It can be slow, too."""

import asyncio
import random
import socket
import threading

#: From who connects to who listens, and back.
THERE, BACK = "there", "back"
#: Pieces on their way in one direction of a connection.
QUEUED = 256


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
        #: The least and the most seconds that bytes take in each direction.
        self.takes = 0.0, 0.0
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
        """Bytes wait in a queue until they are due; those behind them do not wait longer."""
        queue = asyncio.Queue(QUEUED)
        hearing = asyncio.ensure_future(self.hear(reader, queue))
        try:
            while True:
                due, data = await queue.get()
                if (left := due - LOOP.loop.time()) > 0:
                    await asyncio.sleep(left)
                await self.gates[way].wait()
                if data is None:
                    # A reset is passed on too.
                    return writer.transport.abort()
                if not data:
                    return writer.write_eof()
                writer.write(data)
                await writer.drain()
        except OSError:
            writer.transport.abort()
        finally:
            hearing.cancel()

    async def hear(self, reader, queue):
        """Puts what comes into the queue, each with when it is due: an end is nothing, a reset
        None."""
        while True:
            try:
                data = await reader.read(1 << 16)
            except OSError:
                data = None
            await queue.put((LOOP.loop.time() + random.uniform(*self.takes), data))
            if not data:
                return

    def slow(self, least, most):
        """Bytes take so many seconds in each direction from now on."""
        self.takes = least, most

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
