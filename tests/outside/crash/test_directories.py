"""Data directories that are refused: exit code 3, at once, with the reason, and unchanged."""

import hashlib
import os
import pathlib
import shutil
import subprocess
import tempfile
import time

import pytest
from lib.server import EBB_BIN, Server, copied
from pymongo.errors import PyMongoError

DOORS = ["--mongo-addr", "127.0.0.1:0", "--admin-addr", "127.0.0.1:0", "--cosmos-addr", "off"]
#: Number of kills that leave a stale lock.
STALE = 5


def attempt(directory, *flags, clock="manual", command="serve"):
    """Starts a server that must not start; returns exit code, text and seconds."""
    line = [EBB_BIN, command, "--data-dir", str(directory), *flags]
    if command == "serve":
        line += ["--clock", clock, *DOORS]
    began = time.monotonic()
    try:
        ended = subprocess.run(line, capture_output=True, text=True, timeout=8)
    except subprocess.TimeoutExpired:
        raise AssertionError(f"{directory} was not refused") from None
    return ended.returncode, ended.stdout + ended.stderr, time.monotonic() - began


def fingerprint(directory):
    return {
        str(path.relative_to(directory)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(pathlib.Path(directory).rglob("*"))
        if path.is_file() and path.name != "lock"
    }


def refused(directory, *words, within=5.0, **more):
    before = fingerprint(directory)
    code, text, seconds = attempt(directory, **more)
    assert code == 3, f"exit {code}: {text}"
    for word in words:
        assert word in text.lower(), text
    assert seconds < within
    assert fingerprint(directory) == before, "a refused directory was changed"


@pytest.fixture
def used(tmp_path):
    """A closed directory with a collection, an index and 500 documents."""
    server = Server(data_dir=tmp_path / "data")
    with server:
        collection = server.client["d"]["d"]
        collection.create_index("k")
        collection.insert_many([{"_id": i, "k": i, "pad": "x" * 500} for i in range(500)])
        assert server.stop() == 0
    return tmp_path / "data"


def test_a_second_process_is_refused_at_once(tmp_path, report):
    with Server(data_dir=tmp_path / "data") as server:
        server.client["d"]["d"].insert_one({"_id": 1})
        for command in ("serve", "verify"):
            code, text, seconds = attempt(tmp_path / "data", command=command)
            assert (code, "in use" in text) == (3, True), text
            assert seconds < 5.0
        assert server.client["d"]["d"].count_documents({}) == 1
    report("F23", 2, "second processes on one directory")


def test_a_stale_lock_does_not_block(tmp_path, report):
    with Server(data_dir=tmp_path / "data") as server:
        for number in range(STALE):
            server.client["d"]["d"].insert_one({"_id": number})
            server.kill()
            assert (tmp_path / "data" / "lock").exists()
            server.start()
            assert server.client["d"]["d"].count_documents({}) == number + 1
    report("F23", STALE, "stale locks")


def test_a_directory_that_is_removed_meanwhile(tmp_path, report):
    """Writes to deleted files are not acknowledged forever, and SIGTERM stops the server."""
    with Server(data_dir=tmp_path / "data", clock="system", flags=["--memory", "128m"]) as server:
        rows = server.client["d"]["d"]
        rows.insert_one({"_id": "before"})
        shutil.rmtree(tmp_path / "data")
        until, refused = time.monotonic() + 60, False
        number = 0
        while not refused and time.monotonic() < until:
            number += 1
            try:
                rows.insert_many([{"pad": "x" * 10_000} for _ in range(100)])
                server.client["d"][f"new{number}"].insert_one({})
            except PyMongoError:
                refused = True
        assert refused, f"{number} times a megabyte was acknowledged without a directory"
        assert server.alive()
        assert server.ready()[0] == 503, server.ready()
        server.client.close()
        server.process.terminate()
        assert server.process.wait(10) in (0, 1)
    report("F23", 1, "removed directory of a running server", refused_after=f"{number} MB")


def test_a_foreign_directory(tmp_path):
    (tmp_path / "thesis.txt").write_text("everything")
    refused(tmp_path, "empty --data-dir")
    assert [path.name for path in tmp_path.iterdir() if path.name != "lock"] == ["thesis.txt"]


def test_a_foreign_format(tmp_path):
    (tmp_path / "EBB").write_bytes(b"\x00\xffsomething else")
    refused(tmp_path, str(tmp_path).lower())


def test_an_empty_format_file(used):
    (used / "EBB").write_bytes(b"")
    refused(used, str(used).lower())


def test_a_newer_format(used):
    text = (used / "EBB").read_text()
    assert "format 3" in text
    (used / "EBB").write_text(text.replace("format 3", "format 4"))
    refused(used, "another version", "format 4")
    refused(used, "another version", command="verify")


def test_a_missing_format_file(used):
    (used / "EBB").unlink()
    refused(used, str(used).lower())


@pytest.mark.parametrize(("first", "second"), [("manual", "system"), ("system", "manual")])
def test_the_other_clock(tmp_path, first, second):
    with Server(data_dir=tmp_path / "data", clock=first) as server:
        server.client["d"]["d"].insert_one({"_id": 1})
        assert server.stop() == 0
    refused(tmp_path / "data", "clock", clock=second)
    with Server(data_dir=tmp_path / "data", clock=first) as server:
        assert server.client["d"]["d"].count_documents({}) == 1


def test_a_directory_that_is_a_file(tmp_path):
    (tmp_path / "file").write_text("x")
    code, text, _ = attempt(tmp_path / "file")
    assert code == 3 and "file" in text, (code, text)


def test_verify_of_nothing(tmp_path):
    code, text, _ = attempt(tmp_path / "none", command="verify")
    assert code == 3
    assert "none" in text
    assert not (tmp_path / "none").exists()


def files(directory):
    """Returns the data files that are not empty, largest first."""
    found = [
        path
        for path in directory.rglob("*")
        if path.is_file() and path.stat().st_size and path.name not in ("lock", "EBB")
    ]
    return sorted(found, key=lambda path: (-path.stat().st_size, str(path)))


def answers_or_refuses(directory, expected):
    """A damaged directory is refused with a reason, or serves exactly its data."""
    code, text, _ = attempt(directory, command="verify")
    assert code in (0, 1, 3), f"verify ended with {code}: {text}"
    assert "panicked" not in text, text
    assert code == 0 or text.strip(), "no reason is given"
    server = Server(data_dir=directory)
    try:
        server.start()
    except AssertionError as failure:
        server.close()
        assert server.process.returncode == 3, failure
        assert "panicked" not in str(failure), failure
        return "refused"
    try:
        rows = {row["_id"]: row for row in server.client["d"]["d"].find()}
    except PyMongoError as error:
        assert server.alive(), f"died on a damaged directory: {error}"
        return "error"
    finally:
        server.close()
    if rows == expected:
        return "served"
    # Documents are missing without a warning: `ebb verify` at least must have reported it.
    assert code != 0, f"{len(rows)} of {len(expected)} documents, and verify is content"
    return "fewer"


def originals():
    return {i: {"_id": i, "k": i, "pad": "x" * 500} for i in range(500)}


def kinds_of_files(directory):
    """Returns one file of each kind of name, so that every kind is damaged once."""
    chosen = {}
    for path in files(directory):
        kind = "".join(c for c in str(path.relative_to(directory)) if not c.isdigit())
        chosen.setdefault(kind, path)
    return list(chosen.values())


def damage(path, how):
    size = path.stat().st_size
    if how == "missing":
        path.unlink()
    elif how == "empty":
        os.truncate(path, 0)
    elif how == "half":
        os.truncate(path, size // 2)
    elif how == "zeroes":
        os.truncate(path, 0)
        os.truncate(path, size)
    elif how == "flip":
        data = path.read_bytes()
        # In the middle of the content, without the zeroes of a preallocated file.
        at = len(data.rstrip(b"\0")) // 2
        with open(path, "r+b") as file:
            file.seek(at)
            file.write(bytes([data[at] ^ 0x10]))


@pytest.mark.parametrize("how", ["missing", "empty", "half", "zeroes", "flip"])
def test_damaged_files(used, tmp_path, how):
    """There is never a wrong document, a document lost without an error, or a panic."""
    wrong = []
    for path in kinds_of_files(used):
        name = path.relative_to(used)
        copy = tmp_path / "copy"
        shutil.rmtree(copy, ignore_errors=True)
        copied(used, copy)
        damage(copy / name, how)
        try:
            answers_or_refuses(copy, originals())
        except AssertionError as failure:
            wrong.append(f"{name} {how}: {str(failure)[:300]}")
    assert wrong == []


@pytest.mark.parametrize("how", ["missing", "empty", "half", "zeroes"])
def test_a_lost_clock(tmp_path, how):
    """Time never goes back: expired documents do not reappear because a file is lost."""
    with Server(data_dir=tmp_path / "data") as server:
        collection = server.client["d"]["d"]
        collection.create_index("_ts", expireAfterSeconds=10)
        collection.insert_one({"_id": "dead"})
        server.advance(10_000)
        assert collection.find_one() is None
        now = server.now_ms()
        assert server.stop() == 0
    damage(tmp_path / "data" / "clock", how)
    server = Server(data_dir=tmp_path / "data")
    try:
        server.start()
    except AssertionError as failure:
        server.close()
        assert server.process.returncode == 3 and "clock" in str(failure), failure
        return
    try:
        assert server.client["d"]["d"].find_one() is None, "a dead document lives again"
        assert now <= server.now_ms()
    finally:
        server.close()


def test_verify_writes_no_clock(used):
    (used / "clock").unlink()
    attempt(used, command="verify")
    assert not (used / "clock").exists()


def test_a_read_only_directory(used):
    # Root may write everywhere, so as root the server runs as another user.
    home = pathlib.Path(tempfile.mkdtemp(prefix="ebb-outside-"))
    try:
        binary, copy = home / "ebb", home / "data"
        shutil.copy(EBB_BIN, binary)
        copied(used, copy)
        home.chmod(0o755)
        for path in [copy, *copy.rglob("*")]:
            path.chmod(0o555 if path.is_dir() else 0o444)
        before = fingerprint(copy)
        nobody = {"user": 65534, "group": 65534} if os.geteuid() == 0 else {}
        ended = subprocess.run(
            [binary, "serve", "--data-dir", copy, "--clock", "manual", *DOORS],
            capture_output=True,
            text=True,
            timeout=20,
            **nobody,
        )
        assert ended.returncode == 3, ended.stderr
        assert str(copy) in ended.stderr
        assert fingerprint(copy) == before
    finally:
        # An ordinary user cannot delete the files of a directory that is read-only.
        for path in [copy, *copy.rglob("*")]:
            if path.is_dir():
                path.chmod(0o755)
        shutil.rmtree(home)


@pytest.mark.parametrize("how", ["missing", "empty", "zeroes"])
def test_a_journal_lost_after_a_crash(tmp_path, how):
    """The loss of long acknowledged writes is reported."""
    server = Server(data_dir=tmp_path / "data")
    with server:
        for number in range(20):
            server.client["d"]["d"].insert_one({"_id": number})
        # The background work has run several times.
        server.wait_for_passes(15)
        server.kill()
    segments = [it for it in (tmp_path / "data/store/journal").iterdir() if it.name != "lock"]
    for segment in segments:
        damage(segment, how)
    for command in ("verify", "serve", "serve"):
        code, text, _ = attempt(tmp_path / "data", command=command)
        # The message names the last entry that was certainly durable, or the damaged file.
        named = "was durable" in text or "journal is damaged" in text
        assert (code, named) == (3, True), (command, code, text)
