"""A relay between a client and a server that records requests, and changes nothing."""

import re
import socket
import threading
import urllib.parse

REQUEST = re.compile(rb"(?:^|\r\n\r\n|[}\]])(GET|POST|PUT|PATCH|DELETE) (\S+) HTTP/1\.1\r\n")


class Relay:
    """Listens on an address of its own for the length of a block; `requests` are methods and
    paths."""

    def __init__(self, endpoint):
        address = urllib.parse.urlsplit(endpoint)
        self.server = (address.hostname, address.port)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.endpoint = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        self.requests = []
        self.open = [self.listener]

    def __enter__(self):
        threading.Thread(target=self.accept, daemon=True).start()
        return self

    def __exit__(self, *_):
        for one in self.open:
            one.close()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            server = socket.create_connection(self.server)
            self.open += [client, server]
            for source, target, note in ((client, server, self.note), (server, client, None)):
                threading.Thread(
                    target=self.carry, args=(source, target, note), daemon=True
                ).start()

    @staticmethod
    def carry(source, target, note):
        try:
            while data := source.recv(1 << 16):
                if note:
                    note(data)
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def note(self, data):
        """Records requests. A client sends a head in one piece, and the next after the reply."""
        self.requests += [
            f"{method.decode()} {path.decode()}" for method, path in REQUEST.findall(data)
        ]
