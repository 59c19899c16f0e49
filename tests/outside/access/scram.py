"""The client side of SCRAM, step by step, so that a test can omit or change one."""

import base64
import hashlib
import hmac
import secrets

from pymongo.saslprep import saslprep

MECHANISMS = ("SCRAM-SHA-1", "SCRAM-SHA-256")


def escaped(name):
    return name.replace("=", "=3D").replace(",", "=2C")


def attributes(message):
    """Returns the attributes of a message by their letters."""
    return dict(part.split("=", 1) for part in message.decode().split(","))


class Exchange:
    """One login. Its messages are bytes; `mechanism` determines how the password is hashed."""

    def __init__(self, user, password, mechanism="SCRAM-SHA-256", nonce=None, header="n,,"):
        self.user, self.password, self.mechanism = user, password, mechanism
        self.hash = mechanism.removeprefix("SCRAM-").replace("-", "").lower()
        self.nonce = nonce or base64.b64encode(secrets.token_bytes(24)).decode()
        self.header = header
        self.server_key = self.signed = None

    def first(self):
        """Returns the client-first message."""
        self.bare = f"n={escaped(self.user)},r={self.nonce}"
        return (self.header + self.bare).encode()

    def secret(self):
        """Returns the text that is hashed with the salt."""
        if self.mechanism == "SCRAM-SHA-1":
            text = f"{self.user}:mongo:{self.password}"
            return hashlib.md5(text.encode()).hexdigest().encode()
        return saslprep(self.password).encode()

    def sign(self, key, message):
        return hmac.digest(key, message, self.hash)

    def final(self, server_first, nonce=None, binding=None):
        """Returns the client-final message; `nonce` and `binding` replace the correct values."""
        said = attributes(server_first)
        binding = base64.b64encode((binding or self.header).encode()).decode()
        own = f"c={binding},r={nonce or said['r']}"
        salted = hashlib.pbkdf2_hmac(
            self.hash, self.secret(), base64.b64decode(said["s"]), int(said["i"])
        )
        client_key = self.sign(salted, b"Client Key")
        stored_key = hashlib.new(self.hash, client_key).digest()
        self.server_key = self.sign(salted, b"Server Key")
        self.signed = b",".join([self.bare.encode(), server_first, own.encode()])
        signature = self.sign(stored_key, self.signed)
        proof = bytes(a ^ b for a, b in zip(client_key, signature, strict=True))
        return f"{own},p={base64.b64encode(proof).decode()}".encode()

    def check(self, server_final):
        """Checks the server's signature, which proves that it knows the user's keys."""
        signature = base64.b64encode(self.sign(self.server_key, self.signed)).decode()
        assert server_final.decode() == f"v={signature}"
