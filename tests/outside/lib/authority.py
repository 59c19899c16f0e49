"""An authority that signs certificates with openssl, and clients of the MongoDB API that
believe it or show one."""

import subprocess

import pymongo


def openssl(*arguments):
    subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True)


def new_key(path, curve="prime256v1"):
    openssl("genpkey", "-algorithm", "EC", "-pkeyopt", f"ec_paramgen_curve:{curve}", "-out", path)
    return path


class Authority:
    """An authority with a certificate of its own, in a folder."""

    def __init__(self, folder, name):
        self.folder = folder / name
        self.folder.mkdir()
        self.path, self.key = self.folder / "ca.pem", new_key(self.folder / "ca.key")
        openssl(
            *("req", "-x509", "-new", "-key", self.key, "-subj", f"/CN={name}"),
            *("-days", 30, "-out", self.path),
        )

    def sign(self, name, subject, extensions="basicConstraints=CA:FALSE"):
        """Makes a certificate; returns one file with it and its key."""
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
    """A client over TLS that believes an authority."""
    options = {"serverSelectionTimeoutMS": 3000, "directConnection": True, **options}
    port = server.address[1]
    return pymongo.MongoClient("localhost", port, tls=True, tlsCAFile=str(authority), **options)


def with_certificate(server, authority, path):
    """One that logs in with a certificate."""
    return connect(
        server,
        authority,
        tlsCertificateKeyFile=str(path),
        authMechanism="MONGODB-X509",
        authSource="$external",
    )


def subject_of(path):
    """The subject as `openssl` prints it."""
    command = ["openssl", "x509", "-noout", "-subject", "-nameopt", "RFC2253", "-in", str(path)]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return said.strip().removeprefix("subject=")
