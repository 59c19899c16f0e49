"""TLS with a driver: the server's certificate and its replacement, client certificates, and users
who log in with them."""

import http.client
import signal
import ssl
import time

import pytest
from lib.authority import Authority, connect, subject_of, with_certificate
from lib.server import Server
from pymongo.errors import AutoReconnect, ConnectionFailure, OperationFailure

WITHIN = 20.0


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("tls"), "good")


def test_the_certificate_that_the_server_makes():
    with Server(data_dir=True) as server:
        made = server.data_dir / "nosql" / "certificate.pem"
        with connect(server, made) as client:
            client.db.c.insert_one({"_id": 1, "a": "x" * 100_000})
            assert client.db.c.find_one({"_id": 1})["a"] == "x" * 100_000
        server.end()


def test_who_does_not_speak_tls_is_refused_where_it_is_required(authority):
    with Server(data_dir=True, flags=["--mongo-tls", "require"]) as server:
        made = server.data_dir / "nosql" / "certificate.pem"
        with connect(server, made) as client:
            assert client.admin.command("ping")["ok"] == 1
        with (
            server.connect(serverSelectionTimeoutMS=500) as client,
            pytest.raises(ConnectionFailure),
        ):
            client.admin.command("ping")
        with (
            connect(server, authority.path, serverSelectionTimeoutMS=500) as client,
            pytest.raises(ConnectionFailure, match="certificate verify failed"),
        ):
            client.admin.command("ping")


def test_requests_in_plain_text_are_refused_where_tls_is_required():
    flags = ["--cosmos-tls", "require"]
    with Server(data_dir=True, nosql=True, flags=flags) as server:
        host, port = server.items.address
        trusted = ssl.create_default_context(cafile=server.data_dir / "nosql" / "certificate.pem")
        secure = http.client.HTTPSConnection("localhost", port, context=trusted)
        for client, status, said in (
            (http.client.HTTPConnection(host, port), 400, "https only"),
            (secure, 401, "Unauthorized"),
        ):
            client.request("GET", "/dbs")
            answer = client.getresponse()
            assert answer.status == status
            assert said in answer.read().decode()
            client.close()
        server.end()


def test_users_log_in_with_their_certificates(authority, tmp_path):
    other = Authority(tmp_path, "other")
    ann = authority.sign("ann", "/C=DE/O=y, z/OU=x/CN=ann")
    bob = authority.sign("bob", "/O=y/CN=bob", "extendedKeyUsage=clientAuth")
    eve = other.sign("eve", "/C=DE/O=y, z/OU=x/CN=ann")
    served = authority.sign("served", "/CN=localhost", "extendedKeyUsage=serverAuth")
    name = subject_of(ann)
    assert name == "CN=ann,OU=x,O=y\\, z,C=DE"
    flags = ["--tls-client-ca", str(authority.path)]
    with Server(data_dir=True, flags=flags) as server:
        roles = [{"role": "readWrite", "db": "db"}]
        server.client["$external"].command("createUser", name, roles=roles)
        server.leave()
        server.flags.append("--mongo-auth")
        server.start()
        made = server.data_dir / "nosql" / "certificate.pem"
        with with_certificate(server, made, ann) as client:
            client.db.c.insert_one({"_id": 1})
            status = client.admin.command("connectionStatus")["authInfo"]
            assert status["authenticatedUsers"] == [{"user": name, "db": "$external"}]
            with pytest.raises(OperationFailure) as failed:
                client.other.c.insert_one({"_id": 1})
            assert failed.value.code == 13
        with with_certificate(server, made, bob) as client:
            with pytest.raises(OperationFailure) as failed:
                client.db.c.find_one()
            assert failed.value.code == 18, failed.value
        for refused in (eve, served):
            with (
                with_certificate(server, made, refused) as client,
                pytest.raises(ConnectionFailure),
            ):
                client.db.c.find_one()
        with connect(server, made) as client:
            with pytest.raises(OperationFailure) as failed:
                client.db.c.find_one()
            assert failed.value.code == 13, failed.value


def test_sighup_has_the_certificate_read_again(authority, tmp_path):
    other = Authority(tmp_path, "other")
    names = "subjectAltName=DNS:localhost"
    used = tmp_path / "used"

    def use(path):
        used.write_text(path.read_text())

    use(authority.sign("server", "/CN=localhost", names))
    flags = ["--tls-cert", str(used), "--tls-key", str(used)]
    with Server(flags=flags, log_level="info") as server:
        with connect(server, authority.path, maxPoolSize=1) as before:
            number = before.admin.command("hello")["connectionId"]
            use(other.sign("server", "/CN=localhost", names))
            server.process.send_signal(signal.SIGHUP)
            until = time.monotonic() + WITHIN
            while True:
                try:
                    with connect(server, other.path, serverSelectionTimeoutMS=500) as client:
                        client.admin.command("ping")
                    break
                except AutoReconnect:
                    assert time.monotonic() < until, server.log.read_text()
            assert before.admin.command("hello")["connectionId"] == number
        used.write_text("noise")
        server.process.send_signal(signal.SIGHUP)
        while "not reloaded" not in server.log.read_text():
            assert time.monotonic() < until, server.log.read_text()
            time.sleep(0.01)
        with connect(server, other.path) as client:
            assert client.admin.command("ping")["ok"] == 1
        server.leave()
