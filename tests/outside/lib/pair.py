"""A collection or container on a server and its model, changed together and compared."""

from lib.server import AT_ONCE, Server


class Pair:
    """Each step changes both; `check` compares them. `server` replaces a new one."""

    #: Text long enough that expired documents are worth reaping.
    PAD = ""

    def __init__(self, data_dir=None, flags=AT_ONCE, pad=False, server=None, **options):
        self.server = server or Server(data_dir=data_dir, flags=flags, **options)
        self.writes = 0
        self.pad = {"pad": self.PAD} if pad else {}

    def __enter__(self):
        self.server.start()
        self.begin()
        return self

    def __exit__(self, *problem):
        self.server.close()

    def begin(self):
        """Creates the collection and the model after the first start of the server."""
        raise NotImplementedError

    def open(self):
        """Called after each start of the server."""

    def move(self, ms):
        self.server.advance(ms)
        self.model.move(ms)

    def restart(self):
        self.server.restart()
        self.open()

    def crash(self):
        self.server.kill()
        self.server.start()
        self.open()

    def reap(self):
        """Waits until expired data has been reaped."""
        raise NotImplementedError

    def reap_and_restart(self):
        self.reap()
        self.restart()

    def check(self):
        """Compares the live documents by several paths."""
        raise NotImplementedError

    def end(self):
        self.server.end()
