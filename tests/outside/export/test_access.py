"""Logins, keys and TLS: rights to read and write, and that passwords are never shown."""

import json

from access.guarded import ROOT, ROOT_PASSWORD, Guarded

from export.tools import exported, imported, mongo, nosql, printed, run

#: Characters that an address has to encode, and one that SASLprep removes.
PASSWORD = "p:w@/%é\u00ad"


def place(server, user="", more=""):
    host, port = server.address
    return ["--uri", f"mongodb://{user}{host}:{port}/{more}", "-d", "d", "-c", "c"]


def test_users_log_in_and_do_what_they_may(tmp_path):
    with Guarded(flags=["--mongo-auth"]) as server:
        secret = server.secret(ROOT_PASSWORD)
        lines = b'{"_id":1}\n{"_id":2}\n'
        assert "requires authentication" in run("export", *place(server), code=1)[1]
        root = place(server, f"{ROOT}@")
        file = tmp_path / "in"
        file.write_bytes(lines)
        said = imported(root, file, "--password-file", secret)
        assert said["inserted"] == 2
        server.new_user([{"role": "read", "db": "d"}], name="ann", password=PASSWORD)
        server.new_user([{"role": "readWrite", "db": "d"}], database="d", name="bob")
        # The password from standard input.
        ann = place(server, "ann@")
        out, _ = run("export", *ann, "--format", "jsonl", stdin=f"{PASSWORD}\n".encode())
        assert out == lines
        other = tmp_path / "other"
        other.write_bytes(lines)
        said = run("import", other, *ann, stdin=f"{PASSWORD}\n".encode(), code=1)[1]
        assert "not authorized" in said
        # The password in the address, which is allowed.
        bob = place(server, "bob:pw@", "?authSource=d")
        assert printed(bob, "--format", "jsonl").encode() == lines
        for more in ("", "?authSource=d"):
            wrong = place(server, "bob:planted@", more)
            said = run("export", *wrong, code=1)[1]
            assert "Authentication failed" in said and "planted" not in said
        exported(bob, tmp_path / "x", "--limit", "1")
        assert [it.name for it in tmp_path.iterdir() if it.name.startswith("x")] == ["x"]
        # The state of an unfinished run does not contain the user.
        wrong = tmp_path / "wrong"
        wrong.write_bytes(b"{\n")
        imported(root, wrong, "--stop-on-error", "--password-file", secret, code=1)
        kept = (tmp_path / "wrong.import-state").read_text()
        assert json.loads(kept)["is_stopped"] and ROOT not in kept


def test_over_tls_with_the_certificate_of_the_server(tmp_path):
    flags = ["--mongo-tls", "require"]
    with Guarded(data_dir=True, nosql=True, flags=flags, first_user=False) as server:
        made = server.data_dir / "nosql" / "certificate.pem"
        plain = mongo(server, "c")
        assert "no answer" in run("export", *plain, code=1)[1]
        assert "--tls-ca" in run("export", *plain, "--tls", code=1)[1]
        said = imported([*plain, "--tls-ca", made], "-", stdin=b'{"_id":1}')
        assert said["inserted"] == 1
        host, port = server.address
        uri = f"mongodb://{host}:{port}/?tls=true&tlsCAFile={made}"
        assert printed(["--uri", uri, "-d", "d", "-c", "c"], "--format", "jsonl") == '{"_id":1}\n'
        key = server.data_dir / "nosql" / "key.pem"
        assert "no certificate" in run("export", *plain, "--tls-ca", key, code=1)[1]
        host, port = server.items.address
        server.items.create_database("i")
        assert server.items.container("i", "c").define().status == 201
        items = ["--nosql", f"https://{host}:{port}", "-d", "i", "-c", "c"]
        said = imported([*items, "--tls-ca", made], "-", stdin=b'{"id":"1","pk":"a"}')
        assert said["inserted"] == 1
        assert "--tls-ca" in run("export", *items, code=1)[1]
        line = printed([*items, "--tls-ca", made], "-f", "pk")
        assert line == '{"id":"1","pk":"a"}\n'
        assert printed(nosql(server, "c"), "-f", "pk") == line
        other = tmp_path / "key"
        other.write_text("MDEyMzQ1Njc4OWFiY2RlZg==\n")
        other.chmod(0o600)
        said = run("export", *nosql(server, "c"), "--key-file", other, code=1)[1]
        assert "401" in said and "MDEy" not in said
