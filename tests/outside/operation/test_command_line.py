"""Error messages and exit codes of the command line: the flag or line that is wrong, and a remedy.
And the output without a terminal."""

import contextlib
import json
import os
import re
import socket
import ssl
import stat
import subprocess
import time
import urllib.error
import urllib.request

import pytest
from lib.server import EBB_BIN, Server

FLAGS = ["--mongo-addr", "--cosmos-addr", "--admin-addr"]
FREE = [f"{flag}=127.0.0.1:0" for flag in FLAGS]


def run(*words, folder=None):
    """Runs `ebb`; returns exit code, standard output and standard error."""
    variables = {name: value for name, value in os.environ.items() if not name.startswith("EBB_")}
    ended = subprocess.run(
        [EBB_BIN, *words], capture_output=True, text=True, timeout=60, cwd=folder, env=variables
    )
    return ended.returncode, ended.stdout, ended.stderr


@pytest.fixture(scope="module")
def server():
    with Server(nosql=True) as running:
        yield running


def admin(server, *words):
    return run("admin", "--admin-addr", server.admin_url.removeprefix("http://"), *words)


def test_a_server_with_nothing_to_listen_on(tmp_path):
    code, _, said = run("serve", "--in-memory", *[f"{flag}=off" for flag in FLAGS], folder=tmp_path)
    assert (code, "every address is off: give one of --mongo-addr" in said) == (2, True), said


def test_a_port_that_is_taken(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        for flag in FLAGS:
            others = [word for word in FREE if not word.startswith(flag)]
            words = [*others, f"{flag}=127.0.0.1:{port}"]
            code, _, said = run("serve", "--in-memory", *words, folder=tmp_path)
            assert code == 1
            wanted = f"ebb: {flag} 127.0.0.1:{port} is in use: stop what listens there, or give "
            assert wanted in said, said
            proposed = int(re.search(rf"or give {flag} 127.0.0.1:(\d+) ", said)[1])
            assert proposed > port


def three_ports():
    """Returns the first of three consecutive ports, of which the second is free."""
    while True:
        with contextlib.ExitStack() as taken:
            first = taken.enter_context(socket.create_server(("127.0.0.1", 0)))
            port = first.getsockname()[1]
            try:
                socket.create_server(("127.0.0.1", port + 1)).close()
                taken.enter_context(socket.create_server(("127.0.0.1", port + 2)))
            except (OSError, OverflowError):
                continue
            return port, taken.pop_all()


def test_a_port_that_is_proposed_is_free(tmp_path):
    port, taken = three_ports()
    with taken:
        # The port in between belongs to another setting.
        words = [f"--admin-addr=127.0.0.1:{port}", f"--cosmos-addr=127.0.0.1:{port + 1}"]
        code, _, said = run("serve", "--in-memory", "--mongo-addr=off", *words, folder=tmp_path)
    assert code == 1
    proposed = int(re.search(r"or give --admin-addr 127.0.0.1:(\d+) ", said)[1])
    assert proposed > port + 2, said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("mongo_addr = 1\n", ":1: there is no setting 'mongo_addr'; did you mean 'mongo-addr'?"),
        ('\nclok = "manual"\n', ":2: there is no setting 'clok'; did you mean 'clock'?"),
        ('# a\n\nclock = "lunar"\n', ":3: invalid value 'lunar' for '--clock"),
        ("clock = \n", ":1: "),
    ],
)
def test_a_wrong_line_of_a_file_of_settings(tmp_path, text, said):
    file = tmp_path / "ebb.toml"
    file.write_text(text)
    code, _, error = run("serve", "--config", str(file), "--print-config")
    assert code == 2
    assert f"--config {file}{said}" in error


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["serve", "--in-memory", *FREE, "--key-file", "/nowhere", "--mongo-no-auth"],
            "--key-file /nowhere",
        ),
        (["serve", "--in-memory", *FREE, "--key-file", "/nowhere"], "--mongo-no-auth"),
        (["serve", "--config", "/nowhere"], "--config /nowhere"),
        (["serve", "--mongo-addr", "127.0.0.1:99999"], "the largest is 65535"),
        (["serve", "--in-memory", "--cosmos-addr", "0.0.0.0:0"], "give a --key-file"),
        ([], "ebb serve        a server on loopback"),
        (["serv"], "serve"),
        (["admin", "health", "--key-file", "/nowhere"], "--key-file /nowhere"),
        (["admin", "health", "--tls-ca", "/nowhere"], "--tls-ca /nowhere"),
        (["admin", "clock", "advance", "much"], "such as 90s, 15m, 36h or 30d"),
        (["quickstart", "--key-file", "/nowhere"], "--key-file /nowhere"),
        (["backup", "/tmp/none.ebb", "--key-file", "/nowhere"], "--key-file /nowhere"),
        (["verify"], "--data-dir"),
        (["verify", "--audit-file", "/nowhere"], "--audit-file /nowhere"),
        (["admin", "user", "add", "a", "--password-file", "/nowhere"], "--password-file <PATH>"),
        (["keys"], "Generate four new keys"),
        (["cert"], "Write a server's certificate"),
        (["serve", "--cosmos-direct-advertise", "8081"], "it is not HOST:PORT"),
    ],
)
def test_wrong_usage_ends_with_2(tmp_path, words, said):
    code, _, error = run(*words, folder=tmp_path)
    assert code == 2, error
    assert said in error


def test_no_server_answers():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        closed = f"127.0.0.1:{taken.getsockname()[1]}"
    code, _, said = run("admin", "health", "--admin-addr", closed)
    assert code == 1
    assert f"no answer from {closed}: nothing listens there. Is the server running?" in said
    assert "--admin-addr" in said


def test_the_certificate_is_written_and_a_client_can_trust_it(server, tmp_path):
    file, (host, port) = tmp_path / "ebb.pem", server.items.address
    code, said, error = run("cert", "export", "--cosmos-addr", f"{host}:{port}", str(file))
    assert code == 0, error
    assert "SSL_CERT_FILE=FILE" in said
    trusting = ssl.create_default_context(cafile=str(file))
    with socket.create_connection((host, port)) as plain:
        trusting.wrap_socket(plain, server_hostname="localhost").close()
    code, printed, _ = run("cert", "export", "--cosmos-addr", f"{host}:{port}")
    assert (code, printed) == (0, file.read_text())
    code, _, error = run("cert", "export", "--cosmos-addr", "127.0.0.1:1")
    assert code == 1
    assert "--cosmos-addr" in error


def test_keys_are_made_once_and_a_server_takes_them(tmp_path):
    file = tmp_path / "account.keys"
    assert run("keys", "new", str(file))[0] == 0
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    before = file.read_text()
    names = [line.split(" = ")[0] for line in before.splitlines() if " = " in line]
    assert names == ["primary", "secondary", "primary-readonly", "secondary-readonly"]
    assert run("keys", "new", str(file))[0] == 1
    assert file.read_text() == before
    printed = run("keys", "new")[1]
    assert printed.count(" = ") == 4
    assert not {word for word in before.split() if len(word) > 80} & set(printed.split())
    for words in (["keys", "--help"], ["keys", "new", "--help"]):
        assert "primary-readonly   = BASE64" in run(*words)[1]
    with Server(nosql=True, flags=["--key-file", str(file), "--mongo-no-auth"]) as keyed:
        refused = admin(keyed, "databases")
        assert refused[0] == 1
        assert "give --key-file" in refused[2]
        assert admin(keyed, "databases", "--key-file", str(file))[0] == 0
        assert admin(keyed, "health")[0] == 0


def test_the_clock_is_moved(server):
    code, text, _ = admin(server, "clock", "set", "2040-01-01T00:00:00Z")
    assert (code, text) == (0, "2040-01-01T00:00:00.000Z, manual clock\n")
    code, text, _ = admin(server, "clock", "advance", "90d", "--json")
    assert (code, json.loads(text)["now"]) == (0, "2040-03-31T00:00:00.000Z")
    code, _, said = admin(server, "clock", "set", "2039-01-01T00:00:00Z")
    assert (code, "the clock never goes back" in said) == (1, True)


def test_what_a_server_has_is_shown_in_tables(server):
    server.client.shop.carts.insert_many([{"n": n} for n in range(3)])
    code, text, _ = admin(server, "collections", "shop")
    assert code == 0
    head, row = text.splitlines()[:2]
    assert head.split()[:3] == ["API", "DATABASE", "COLLECTION"]
    assert row.split()[:5] == ["MongoDB", "shop", "carts", "off", "3"]
    code, _, said = admin(server, "collections", "shpo")
    assert (code, said) == (1, "ebb: there is no database shpo\n")
    for words, said in {
        ("databases",): "MongoDB  shop",
        ("features",): "per-document-ttl  on ",
        ("connections",): "MongoDB ",
        ("health",): "ok: operations are served\n",
        ("ttl", "show"): "reaping is running\n",
        ("ttl", "show", "shop", "carts"): "live: 3 documents, ",
        ("ttl", "preview", "shop", "carts", "60"): "at once: 0 documents",
    }.items():
        code, text, error = admin(server, *words)
        assert (code, said in text) == (0, True), (words, text, error)
        code, text, _ = admin(server, *words, "--json")
        assert (code, isinstance(json.loads(text), dict)) == (0, True), words


def test_http_at_the_mongodb_api_is_told_where_the_portal_is(server):
    host, port = server.address
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(f"http://{host}:{port}/", timeout=10)
    said = refused.value.read().decode()
    assert refused.value.code == 400
    assert f"mongodb://{host}:{port}/" in said
    assert f"The portal for a browser is {server.admin_url}/" in said


@pytest.mark.parametrize(("flags", "is_told"), [([], True), (["--log-format", "json"], False)])
def test_without_a_terminal_the_addresses_are_plain_lines(tmp_path, flags, is_told):
    file = tmp_path / "ready"
    command = [EBB_BIN, "serve", "--in-memory", *FREE, "--ready-file", str(file), *flags]
    log = tmp_path / "log"
    with log.open("w") as out, subprocess.Popen(command, stdout=out, stderr=out) as process:
        try:
            # The line of the log comes after all other output.
            while '"message":"ready"' not in log.read_text():
                assert process.poll() is None, log.read_text()
                time.sleep(0.02)
        finally:
            process.terminate()
    ready = json.loads(file.read_text())
    lines = log.read_text().splitlines()
    key = "C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw=="
    for line in (
        f"NoSQL: AccountEndpoint=http://{ready['cosmos']}/;AccountKey={key}",
        f"MongoDB: mongodb://{ready['mongo']}/?directConnection=true",
        f"Admin: http://{ready['admin']}/status",
        "NoSQL: public emulator key: no access protection",
    ):
        assert (line in lines) == is_told, line
