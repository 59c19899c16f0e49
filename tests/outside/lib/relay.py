"""A TCP relay that can be cut in each direction, like a network that loses its route: data waits,
and is delivered or lost when the relay is mended. It can also delay data."""

import asyncio
import random
import socket
import threading

#: Directions: from the connecting side to the listening side, and back.
THERE, BACK = "there", "back"
#: Limit of the chunks in flight in one direction of a connection.
QUEUED = 256


class Loop:
    """The event loop, in a thread of its own, that all relays share."""

    def __init__(self):
        self.loop = asyncio.new_event_loop()
        threading.Thread(target=self.loop.run_forever, daemon=True, name="relays").start()

    def run(self, what):
        return asyncio.run_coroutine_threadsafe(what, self.loop).result(30)


LOOP = Loop()


def listener(address=("127.0.0.1", 0)):
    """Returns a listening socket in the network namespace of the calling thread."""
    made = socket.socket()
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    made.bind(address)
    made.listen(128)
    made.setblocking(False)
    return made


def outgoing():
    """Returns an unconnected socket in the network namespace of the calling thread."""
    made = socket.socket()
    made.setblocking(False)
    return made


class Relay:
    """Relays connections of a listening socket; `outgoing` creates the sockets to the target."""

    def __init__(self, listening, target=None, outgoing=outgoing):
        self.listening, self.target, self.outgoing = listening, target, outgoing
        self.address = listening.getsockname()
        self.writers = set()
        #: Minimum and maximum delay in each direction, in seconds.
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
            # As if the target had refused: the client sees its connection close.
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
        """Writes each chunk when it is due. Delays overlap: later chunks do not wait longer."""
        queue = asyncio.Queue(QUEUED)
        hearing = asyncio.ensure_future(self.hear(reader, queue))
        try:
            while True:
                due, data = await queue.get()
                if (left := due - LOOP.loop.time()) > 0:
                    await asyncio.sleep(left)
                await self.gates[way].wait()
                if data is None:
                    # A reset is relayed too.
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
        """Queues received data with the time at which it is due; end of stream is an empty chunk, a
        reset is None."""
        while True:
            try:
                data = await reader.read(1 << 16)
            except OSError:
                data = None
            await queue.put((LOOP.loop.time() + random.uniform(*self.takes), data))
            if not data:
                return

    def slow(self, least, most):
        """Delays data by a random time in this range, in seconds, in each direction from now on."""
        self.takes = least, most

    def cut(self, *ways):
        """Stops relaying in these directions, by default in both."""

        async def close():
            for way in ways or (THERE, BACK):
                self.gates[way].clear()

        LOOP.run(close())

    def mend(self, drop=False):
        """Relays again; `drop` resets all connections and discards the data in flight."""

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
