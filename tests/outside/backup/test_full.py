"""Full backups: each is an exact snapshot of a server under load, over every source and target, and
expired data never reappears."""

import base64
import json
import pathlib
import shutil
import subprocess

import pytest
from lib.server import EBB_BIN, Server, date

from backup.ledger import Ledger
from backup.tools import at, backup, environment, refused, restore, restored, run, sound

CLIENTS = 3


def test_a_backup_under_load_is_a_moment_of_each_client(tmp_path):
    """With catalog changes, renames, drops and new TTLs while it is taken: each client's part is
    the state after one of its steps, none before the backup began and none after it ended."""
    with Server(data_dir=True) as server:
        ledgers = [Ledger(server, f"d{number}") for number in range(CLIENTS)]
        # Data that takes a while to read.
        rows = [{"_id": number, "pad": f"{number}" * 200} for number in range(20_000)]
        server.client["big"]["rows"].insert_many(rows)
        for ledger in ledgers:
            ledger.thread.start()
        try:
            for number in range(3):
                until = max(ledger.done for ledger in ledgers) + 20
                while any(ledger.done < until for ledger in ledgers):
                    assert all(ledger.failure is None for ledger in ledgers), ledgers[0].failure
                before = [ledger.done for ledger in ledgers]
                taken = backup(server, tmp_path / f"b{number}.ebb")
                after = [ledger.begun for ledger in ledgers]
                assert taken["kind"] == "full" and taken["bytes"] > 4_000_000
                directory = tmp_path / f"restored{number}"
                restore(tmp_path / f"b{number}.ebb", directory)
                sound(directory)
                with restored(directory) as copy:
                    for ledger, least, most in zip(ledgers, before, after, strict=True):
                        ledger.step_of(copy.client, least, most)
                    assert copy.client["big"]["rows"].count_documents({}) == len(rows)
                    copy.client["big"]["rows"].insert_one({"_id": "new"})
        finally:
            for ledger in ledgers:
                ledger.__exit__()
        server.end()


def test_both_apis_indexes_users_and_switches_travel(tmp_path):
    with Server(data_dir=True, nosql=True) as server:
        documents = server.client["d"]["c"]
        documents.create_index("k")
        documents.create_index("u", unique=True)
        documents.insert_many([{"_id": n, "k": n % 5, "u": n} for n in range(50)])
        server.items.create_database("i")
        container = server.items.container("i", "c")
        assert container.define(defaultTtl=-1).status == 201
        for number in range(20):
            container.upsert({"id": f"{number}", "pk": "a", "n": number})
        server.client["admin"].command(
            {"createUser": "ann", "pwd": "secret", "roles": [{"role": "root", "db": "admin"}]}
        )
        body = json.dumps({"per_document_ttl": False})
        subprocess.run(
            ["curl", "-sf", "-X", "PUT", "-d", body, f"{server.admin_url}/_ebb/features"],
            check=True,
            capture_output=True,
        )
        now = server.now_ms()
        backup(server, tmp_path / "b.ebb")
        restore(tmp_path / "b.ebb", tmp_path / "copy")
    sound(tmp_path / "copy")
    with restored(tmp_path / "copy", nosql=True) as copy:
        assert copy.now_ms() == now
        documents = copy.client["d"]["c"]
        assert set(documents.index_information()) == {"_id_", "k_1", "u_1"}
        assert documents.count_documents({"k": 3}) == 10
        ids = sorted(int(row["id"]) for row in copy.items.container("i", "c").rows())
        assert ids == list(range(20))
        users = copy.client["admin"].command("usersInfo")["users"]
        assert [user["user"] for user in users] == ["ann"]
        assert copy.admin("/_ebb/features")["per_document_ttl"]["on"] is False


def test_a_manual_clock_stands_where_it_stood(tmp_path):
    with Server(data_dir=True) as server:
        collection = server.client["d"]["c"]
        collection.create_index("_ts", expireAfterSeconds=10)
        collection.insert_one({"_id": "gone"})
        server.advance(10_000)
        collection.insert_one({"_id": "live"})
        server.advance(9_999)
        backup(server, tmp_path / "b.ebb")
        now = server.now_ms()
    said = restore(tmp_path / "b.ebb", tmp_path / "copy")
    assert (said["documents"], said["expired_on_arrival"]) == (1, 0)
    with restored(tmp_path / "copy") as copy:
        assert copy.now_ms() == now
        assert [row["_id"] for row in copy.client["d"]["c"].find()] == ["live"]
        # Data that had expired by then does not reappear under later settings.
        copy.client["d"]["c"].drop_index("_ts_1")
        assert copy.client["d"]["c"].count_documents({}) == 1
        copy.client["d"]["c"].create_index("_ts", expireAfterSeconds=10)
        copy.advance(1)
        assert copy.client["d"]["c"].count_documents({}) == 0


def test_what_expires_between_backup_and_restore_is_counted_and_gone(tmp_path):
    """The server's wall clock is an hour behind the machine's, which the restore uses."""
    wall = tmp_path / "wall"
    wall.write_text("-3600000")
    flags = ["--test-wall", str(wall)]
    with Server(data_dir=True, clock="system", flags=flags) as server:
        collection = server.client["d"]["c"]
        collection.insert_many([{"_id": n, "ttl": 600} for n in range(30)])
        collection.insert_many([{"_id": 100 + n, "ttl": 100_000} for n in range(12)])
        assert collection.count_documents({}) == 42
        backup(server, tmp_path / "b.ebb")
    # The `ttl` of a document has an effect only where TTL is on.
    said = restore(tmp_path / "b.ebb", tmp_path / "off")
    assert (said["documents"], said["expired_on_arrival"]) == (42, 0)
    with Server(data_dir=True, clock="system", flags=flags) as server:
        collection = server.client["d"]["c"]
        collection.create_index("_ts", expireAfterSeconds=-1)
        collection.insert_many([{"_id": n, "ttl": 600} for n in range(30)])
        collection.insert_many([{"_id": 100 + n, "ttl": 100_000} for n in range(12)])
        backup(server, tmp_path / "c.ebb")
    said = restore(tmp_path / "c.ebb", tmp_path / "on")
    assert (said["documents"], said["expired_on_arrival"]) == (42, 30)
    with restored(tmp_path / "on", clock="system") as copy:
        collection = copy.client["d"]["c"]
        assert collection.count_documents({}) == 12
        collection.drop_index("_ts_1")
        assert collection.count_documents({}) == 12, "what had expired came back"
    sound(tmp_path / "on")


def test_over_pipes_directories_and_without_a_server(tmp_path):
    with Server(data_dir=True) as server:
        server.client["d"]["c"].insert_many([{"_id": n} for n in range(100)])
        stream, _ = run("backup", "-", *at(server))
        folder = tmp_path / "kept"
        named = backup(server, f"{folder}/")
        found = [path.name for path in folder.iterdir()]
        assert found == [pathlib.Path(named["file"]).name] and found[0].endswith(".ebb")
        taken = refused("backup", named["file"], *at(server))
        assert "already exists" in taken
        # Two at once would be twice the work.
        server.leave()
        out, _ = run("backup", tmp_path / "off.ebb", "--data-dir", server.data_dir, "--json")
        assert json.loads(out)["kind"] == "full"
    run("verify", named["file"])
    run("verify", folder)
    for source, stdin in [("-", stream), (folder, None), (tmp_path / "off.ebb", None)]:
        directory = tmp_path / "copy" / str(len(str(source)))
        restore(source, directory, stdin=stdin)
        with restored(directory) as copy:
            assert copy.client["d"]["c"].count_documents({}) == 100


def test_what_cannot_be_backed_up_or_restored_is_refused(tmp_path):
    with Server() as server:
        assert "in-memory server" in refused("backup", tmp_path / "b.ebb", *at(server))
        assert list(tmp_path.iterdir()) == []
    with Server(data_dir=True) as server:
        server.client["d"]["c"].insert_one({"_id": 1})
        backup(server, tmp_path / "b.ebb")
        used = refused("backup", tmp_path / "x", "--data-dir", server.data_dir, code=3)
        assert "in use" in used
        full = tmp_path / "full"
        full.mkdir()
        (full / "thesis.txt").write_text("everything")
        said = refused("restore", tmp_path / "b.ebb", "--data-dir", full, code=3)
        assert "not empty" in said and [it.name for it in full.iterdir()] == ["thesis.txt"]
    (tmp_path / "other").write_text("a file of somebody else\n")
    said = refused("restore", tmp_path / "other", "--data-dir", tmp_path / "copy")
    assert "not an ebb backup" in said and not (tmp_path / "copy").exists()
    (tmp_path / "newer").write_text("ebb backup, format 2\n")
    said = refused("verify", tmp_path / "newer")
    assert "format 2" in said and "the version that wrote it" in said


def test_a_key_that_may_only_read_gets_no_backup(tmp_path):
    all, some = (base64.b64encode(bytes([byte]) * 64).decode() for byte in (1, 2))
    keys = tmp_path / "keys"
    keys.write_text(f"primary = {all}\nprimary-readonly = {some}\n")
    reads = tmp_path / "reads"
    reads.write_text(f"primary = {some}\n")
    for file in (keys, reads):
        file.chmod(0o600)
    flags = ["--key-file", str(keys)]
    with Server(data_dir=True, flags=[*flags, "--mongo-no-auth"], nosql=False) as server:
        server.client["d"]["c"].insert_one({"_id": 1})
        # Without the NoSQL API a local client needs no key.
        backup(server, tmp_path / "open.ebb")
    audit = tmp_path / "audit"
    flags += ["--mongo-auth", "--audit-file", str(audit)]
    with Server(data_dir=True, flags=flags) as server:
        target = tmp_path / "b.ebb"
        assert "key is read-only" in refused("backup", target, *at(server), "--key-file", reads)
        assert not target.exists()
        refused("backup", target, *at(server))
        backup(server, target, "--key-file", keys)
    lines = [json.loads(line) for line in audit.read_text().splitlines()]
    taken = [line["outcome"] for line in lines if line["object"] == "/_ebb/backup"]
    assert taken == [403, 401, 0]


@pytest.mark.parametrize("how", ["half", "flip", "more"])
def test_broken_backups_restore_nothing(tmp_path, how):
    with Server(data_dir=True) as server:
        server.client["d"]["c"].insert_many([{"_id": n, "pad": f"{n}" * 50} for n in range(3_000)])
        backup(server, tmp_path / "b.ebb")
    whole = (tmp_path / "b.ebb").read_bytes()
    places = range(20, len(whole), max(1, len(whole) // 12))
    for place in places:
        if how == "half":
            broken = whole[:place]
        elif how == "flip":
            broken = whole[:place] + bytes([whole[place] ^ 4]) + whole[place + 1 :]
        else:
            broken = whole + whole[:place]
        (tmp_path / "broken.ebb").write_bytes(broken)
        refused("verify", tmp_path / "broken.ebb")
        said = refused("restore", tmp_path / "broken.ebb", "--data-dir", tmp_path / "copy")
        assert "broken.ebb" in said, said
        assert not (tmp_path / "copy").exists(), "half of a restore is left"


def test_nothing_is_left_of_a_command_that_was_interrupted(tmp_path):
    with Server(data_dir=True) as server:
        rows = [{"_id": n, "at": date(n), "pad": f"{n}" * 150} for n in range(60_000)]
        server.client["d"]["c"].insert_many(rows)
        whole = backup(server, tmp_path / "b.ebb")
        folder = tmp_path / "kept"
        folder.mkdir()
        stopped = 0
        for wait in (0.0, 0.02, 0.05):
            for words in (
                ["backup", f"{folder}/", *at(server)],
                ["restore", str(tmp_path / "b.ebb"), "--data-dir", str(tmp_path / "copy")],
            ):
                code = interrupted(words, wait)
                if code == 0:
                    # The command ended before the signal.
                    shutil.rmtree(tmp_path / "copy", ignore_errors=True)
                    continue
                stopped += 1
                assert [it.name for it in folder.iterdir() if it.suffix != ".ebb"] == []
                assert not (tmp_path / "copy").exists(), words
        assert stopped > 0, "no command was interrupted"
        assert backup(server, tmp_path / "again.ebb")["bytes"] == whole["bytes"]


def interrupted(words, wait):
    """Runs a command and sends SIGINT after a while; returns its exit code."""
    process = subprocess.Popen(
        [EBB_BIN, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()
    )
    try:
        process.wait(0.05 + wait)
    except subprocess.TimeoutExpired:
        process.send_signal(2)
    out, error = process.communicate(timeout=20)
    assert b"panicked" not in out + error, error
    return process.returncode


def test_a_restore_that_was_killed_is_no_data_directory(tmp_path):
    (tmp_path / "copy").mkdir()
    (tmp_path / "copy" / "EBB").write_text("ebb data directory, being restored\n")
    for words in (["verify", "--data-dir"], ["serve", "--data-dir"]):
        said = refused(*words, tmp_path / "copy", code=3)
        assert "was interrupted" in said and "remove it" in said
    (tmp_path / "b.ebb").write_text("")
    said = refused("restore", tmp_path / "b.ebb", "--data-dir", tmp_path / "copy", code=3)
    assert "not empty" in said
