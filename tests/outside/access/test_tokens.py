"""Entra tokens of a service whose keys are read from a file, and the roles of their principals:
actions of each role, requirements on a token, and reloading of both files."""

import base64
import json
import subprocess
import time

import pytest
from lib.nosql import QUERY, UPSERT, of_partition
from lib.server import Server

AUDIENCE, ISSUER = "https://ebb.example", "https://login.example/v2.0"
#: Prefix of the names of data actions.
ITEMS = "Microsoft.DocumentDB/databaseAccounts/sqlDatabases/containers/items/"
ROLES = f"""
keys = "jwks.json"
audience = ["{AUDIENCE}", "api://other"]
issuer = "{ISSUER}"

[[role]]
name = "collector"
actions = ["{ITEMS}create", "{ITEMS}upsert"]
"""


def encoded(data):
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def run(*command, given=None):
    return subprocess.run(command, input=given, capture_output=True, check=True).stdout


class Service:
    """A service that signs tokens."""

    def __init__(self, folder, name):
        self.file, self.name = folder / f"{name}.pem", name
        run("openssl", "genrsa", "-out", str(self.file), "2048")

    def public(self):
        """Returns the public key as an element of a JSON Web Key Set, as Entra publishes it."""
        modulus = run("openssl", "rsa", "-in", str(self.file), "-noout", "-modulus").decode()
        modulus = bytes.fromhex(modulus.strip().removeprefix("Modulus="))
        return {
            "kty": "RSA",
            "use": "sig",
            "kid": self.name,
            "n": encoded(modulus),
            "e": "AQAB",
            "x5c": ["MII"],
        }

    def token(self, principal="ann", head=(), **claims):
        """Returns a token; `None` omits a claim."""
        now = int(time.time())
        told = {"aud": AUDIENCE, "iss": ISSUER, "oid": principal, "nbf": now, "exp": now + 600}
        told = {name: value for name, value in {**told, **claims}.items() if value is not None}
        header = {"typ": "JWT", "alg": "RS256", "kid": self.name, **dict(head)}
        text = ".".join(encoded(json.dumps(part).encode()) for part in (header, told))
        sign = ("openssl", "dgst", "-sha256", "-sign", str(self.file))
        return f"{text}.{encoded(run(*sign, given=text.encode()))}"


def write_roles(folder, services, assigned, more=ROLES):
    keys = {"keys": [service.public() for service in services]}
    (folder / "jwks.json").write_text(json.dumps(keys))
    lines = [more]
    for principal, role, scope in assigned:
        lines.append(
            f'[[assignment]]\nprincipal = "{principal}"\nrole = "{role}"\nscope = "{scope}"\n'
        )
    (folder / "roles.toml").write_text("\n".join(lines))


ASSIGNED = [
    ("ann", "reader", "/"),
    ("bob", "contributor", "/dbs/d/colls/c"),
    ("cid", "collector", "/dbs/d"),
]


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    return Service(tmp_path_factory.mktemp("service"), "one")


@pytest.fixture
def server(tmp_path, service):
    write_roles(tmp_path, [service], ASSIGNED)
    flags = ["--cosmos-roles", str(tmp_path / "roles.toml")]
    flags += ["--audit-file", str(tmp_path / "audit.log")]
    with Server(nosql=True, flags=flags, log_level="info") as server:
        server.folder = tmp_path
        assert server.items.create_database("d").status == 201
        for name in ("c", "e"):
            assert server.items.container("d", name).define().status == 201
        yield server


def ask(server, token, method, path, body=None, headers=()):
    told = {"authorization": f"type%3daad%26ver%3d1.0%26sig%3d{token}", **dict(headers)}
    return server.items.again().call(method, path, body, told)


def test_roles_say_what_a_token_is_for(server, service):
    tokens = {name: service.token(name) for name in ("ann", "bob", "cid", "dan")}
    docs, other = "dbs/d/colls/c/docs", "dbs/d/colls/e/docs"
    select = {"query": "SELECT * FROM c"}
    item = {"id": "1", "pk": "a"}
    of_a = of_partition("a")
    for who, method, path, body, headers, code in (
        ("dan", "GET", "", None, {}, (403, 5301)),
        ("ann", "GET", "", None, {}, (200, 0)),
        ("ann", "POST", docs, item, of_a, (403, 5302)),
        ("cid", "POST", docs, item, of_a, (201, 0)),
        ("cid", "POST", docs, item, {**of_a, **UPSERT}, (200, 0)),
        ("cid", "GET", f"{docs}/1", None, of_a, (403, 5302)),
        ("cid", "DELETE", f"{docs}/1", None, of_a, (403, 5302)),
        ("ann", "GET", f"{docs}/1", None, of_a, (200, 0)),
        ("ann", "POST", docs, select, QUERY, (200, 0)),
        ("bob", "POST", docs, select, QUERY, (200, 0)),
        ("bob", "POST", other, select, QUERY, (403, 5302)),
        ("bob", "PUT", f"{docs}/1", item, of_a, (200, 0)),
        ("bob", "DELETE", f"{docs}/1", None, of_a, (204, 0)),
        ("bob", "DELETE", "dbs/d/colls/c", None, {}, (403, 5300)),
        ("ann", "POST", "dbs", {"id": "x"}, {}, (403, 5300)),
        ("ann", "GET", "dbs", None, {}, (200, 0)),
        ("bob", "GET", "dbs", None, {}, (403, 5301)),
    ):
        reply = ask(server, tokens[who], method, path, body, headers)
        assert reply.code == code, (who, method, path, reply)
    lines = [json.loads(line) for line in (server.folder / "audit.log").read_text().splitlines()]
    users = {line.get("user") for line in lines if line["api"] == "nosql"}
    assert {"key", "principal ann", "principal bob", "principal cid", "principal dan"} == users
    assert tokens["bob"] not in json.dumps(lines) + server.log.read_text()


def test_tokens_that_are_not_good(server, service, tmp_path):
    now = int(time.time())
    other = Service(tmp_path, "one")
    good = service.token()
    head, claims, signature = good.split(".")
    unsigned = encoded(json.dumps({"alg": "none", "kid": "one"}).encode())
    hmac = encoded(json.dumps({"alg": "HS256", "kid": "one"}).encode())
    for token, code in (
        (good, 200),
        (service.token(aud=["api://x", "api://other"]), 200),
        (service.token(oid=None, sub="ann"), 200),
        (service.token(oid=None), 401),
        (service.token(aud="https://elsewhere"), 401),
        (service.token(aud=None), 401),
        (service.token(iss="https://elsewhere"), 401),
        (service.token(iss=None), 401),
        (service.token(exp=now - 1), 403),
        (service.token(exp=None), 401),
        (service.token(nbf=now + 3600), 403),
        # Times may have fractions; claims of a wrong type do not count, nor replace others.
        (service.token(exp=now + 600.5, nbf=now - 0.5), 200),
        (service.token(exp=now - 100.5), 403),
        (service.token(nbf=now + 86400.5), 403),
        (service.token(exp=str(now + 600)), 401),
        (service.token(nbf=str(now - 10)), 401),
        (service.token(nbf=[now]), 401),
        (service.token(oid=1, sub="ann"), 401),
        (service.token(oid="", sub="ann"), 401),
        (service.token(oid=["ann"]), 401),
        (service.token(sub=1), 401),
        (service.token(head={"kid": "two"}), 401),
        (service.token(head={"kid": None}), 401),
        (service.token(head={"alg": "RS512"}), 401),
        (other.token(), 401),
        (f"{unsigned}.{claims}.", 401),
        (f"{hmac}.{claims}.{signature}", 401),
        (f"{head}.{claims}.{signature[:-4]}AAAA", 401),
        (f"{head}.{claims}", 401),
        ("..", 401),
        ("", 401),
    ):
        reply = ask(server, token, "GET", "dbs")
        assert reply.status == code, (token, reply)


def emulator_token(key, principal="bob"):
    """Returns a token in the emulator's form, signed with an account key."""
    head = {"typ": "JWT", "alg": "RS256", "kid": "CosmosEmulatorPrimaryMaster"}
    told = {"aud": "https://localhost.localhost", "exp": int(time.time()) + 600, "oid": principal}
    parts = (json.dumps(head).encode(), json.dumps(told).encode(), key.encode())
    return ".".join(map(encoded, parts))


def test_tokens_that_a_key_of_the_account_signs(tmp_path, service):
    """They permit no more than the key does, and are refused if there are keys of a service, unless
    the file allows them."""
    primary, reader = (base64.b64encode(bytes([byte]) * 64).decode() for byte in (7, 9))
    keys, audit, roles = (tmp_path / name for name in ("keys", "audit.log", "roles.toml"))
    keys.write_text(f"primary = {primary}\nprimary-readonly = {reader}\n")
    keys.chmod(0o600)
    write_roles(tmp_path, [service], ASSIGNED)
    flags = ["--cosmos-roles", str(roles), "--key-file", str(keys), "--mongo-no-auth"]
    flags += ["--audit-file", str(audit)]
    with Server(nosql=True, flags=flags, log_level="info") as server:
        server.items.key = primary
        assert server.items.create_database("d").status == 201
        assert server.items.container("d", "c").define().status == 201
        docs, item, of_a = "dbs/d/colls/c/docs", {"id": "1", "pk": "a"}, of_partition("a")
        for key in (primary, reader, "none"):
            reply = ask(server, emulator_token(key), "GET", docs)
            assert reply.status == 401
            assert "emulator_tokens" in reply.error
        write_roles(tmp_path, [service], ASSIGNED, "emulator_tokens = true\n" + ROLES)
        server.reload("NoSQL API roles reloaded")
        assert ask(server, emulator_token(reader), "POST", docs, item, of_a).status == 403
        assert ask(server, emulator_token(primary), "POST", docs, item, of_a).status == 201
        assert ask(server, emulator_token(reader), "GET", f"{docs}/1", None, of_a).status == 200
        assert ask(server, emulator_token(reader), "DELETE", f"{docs}/1", None, of_a).status == 403
        assert ask(server, emulator_token("none"), "GET", docs).status == 401
    lines = [json.loads(line) for line in audit.read_text().splitlines()]
    users = {line.get("user") for line in lines if line["api"] == "nosql"}
    assert "principal bob by read-only key" in users


def test_keys_and_roles_are_read_again(server, service, tmp_path):
    newer = Service(tmp_path, "two")
    assert ask(server, newer.token(), "GET", "dbs").status == 401
    write_roles(server.folder, [service, newer], ASSIGNED)
    server.reload("NoSQL API roles reloaded")
    assert ask(server, newer.token(), "GET", "dbs").status == 200
    write_roles(server.folder, [newer], [("ann", "reader", "/dbs/d")])
    server.reload("NoSQL API roles reloaded")
    assert ask(server, service.token(), "GET", "dbs").status == 401
    assert ask(server, newer.token(), "GET", "dbs").code == (403, 5301)
    assert ask(server, newer.token(), "GET", "dbs/d").status == 200
    write_roles(server.folder, [newer], [("ann", "owner", "/")])
    server.reload("NoSQL API roles not reloaded")
    assert ask(server, newer.token(), "GET", "dbs/d").status == 200
