"""A certificate authority that signs with openssl, and clients of the MongoDB API that trust it or
present one of its certificates."""

import subprocess

import pymongo


def openssl(*arguments):
    subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True)


def new_key(path, curve="prime256v1"):
    openssl("genpkey", "-algorithm", "EC", "-pkeyopt", f"ec_paramgen_curve:{curve}", "-out", path)
    return path


class Authority:
    """A certificate authority with a self-signed certificate, in a folder."""

    def __init__(self, folder, name):
        self.folder = folder / name
        self.folder.mkdir()
        self.path, self.key = self.folder / "ca.pem", new_key(self.folder / "ca.key")
        openssl(
            *("req", "-x509", "-new", "-key", self.key, "-subj", f"/CN={name}"),
            *("-days", 30, "-out", self.path),
        )

    def sign(self, name, subject, extensions="basicConstraints=CA:FALSE"):
        """Issues a certificate; returns the path of a file with it and its key."""
        key, request = new_key(self.folder / f"{name}.key"), self.folder / f"{name}.csr"
        signed, whole = self.folder / f"{name}.crt", self.folder / f"{name}.pem"
        options = self.folder / f"{name}.ext"
        options.write_text(extensions)
        openssl("req", "-new", "-key", key, "-subj", subject, "-out", request)
        openssl(
            *("x509", "-req", "-in", request, "-CA", self.path, "-CAkey", self.key),
            *("-CAcreateserial", "-days", 30, "-extfile", options, "-out", signed),
        )
        whole.write_text(signed.read_text() + key.read_text())
        return whole


def connect(server, authority, **options):
    """Returns a TLS client that trusts `authority`."""
    options = {"serverSelectionTimeoutMS": 3000, "directConnection": True, **options}
    port = server.address[1]
    return pymongo.MongoClient("localhost", port, tls=True, tlsCAFile=str(authority), **options)


def with_certificate(server, authority, path):
    """Returns a TLS client that logs in with the certificate in `path`."""
    return connect(
        server,
        authority,
        tlsCertificateKeyFile=str(path),
        authMechanism="MONGODB-X509",
        authSource="$external",
    )


def subject_of(path):
    """Returns a certificate's subject as `openssl` prints it."""
    command = ["openssl", "x509", "-noout", "-subject", "-nameopt", "RFC2253", "-in", str(path)]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return said.strip().removeprefix("subject=")
