"""Files of earlier versions: a data directory of this format and a backup open and show their
contents; other formats are refused with a hint how to convert them. The backup was made of the
directory of format 2, so that it is the way from there to here."""

import json
import shutil

import pytest
from lib.archives import unpack
from lib.server import Server

from backup import fixture
from backup.tools import refused, restore, run, sound


@pytest.fixture(params=["directory", "backup"])
def directory(request, tmp_path):
    """A data directory that an earlier version made, or that is restored from its backup."""
    if request.param == "directory":
        unpack(fixture.HERE / "data-3.tar.xz", tmp_path)
        return tmp_path / "data"
    restore(fixture.HERE / "backup-1.ebb", tmp_path / "data")
    return tmp_path / "data"


def test_all_that_was_written_is_there(directory):
    wanted = json.loads((fixture.HERE / "contents.expected").read_text())
    sound(directory)
    with Server(data_dir=directory, nosql=True) as server:
        later = wanted.pop("later")
        assert json.loads(json.dumps(fixture.contents(server))) == wanted
        # It accepts writes, and stored TTLs keep counting.
        server.client["shop"]["orders"].insert_one({"_id": 1_000, "number": 5_000})
        assert fixture.later(server) == later
        server.restart()
        assert server.client["shop"]["orders"].count_documents({}) == 51
    sound(directory)


def refuses(directory, other):
    for words in (["serve", "--data-dir"], ["verify", "--data-dir"]):
        said = refused(*words, directory, code=3)
        assert other in said and "format 3" in said, said
        assert "take a backup with that version's `ebb backup`" in said, said


def test_other_formats_are_refused_with_the_way_out(directory):
    mark = directory / "EBB"
    text = mark.read_text()
    for other in ("format 1", "format 2", "format 4"):
        mark.write_text(text.replace("format 3", other))
        refuses(directory, other)
    mark.write_text(text)
    sound(directory)


def test_a_directory_of_the_format_before_is_refused_unchanged(tmp_path):
    unpack(fixture.HERE / "data-2.tar.xz", tmp_path)
    files = [path for path in (tmp_path / "data").rglob("*") if path.is_file()]
    before = {path: path.read_bytes() for path in files}
    refuses(tmp_path / "data", "format 2")
    assert {path: path.read_bytes() for path in before} == before
    # With the mark of this format its store is refused, too.
    (tmp_path / "data" / "EBB").write_text("ebb data directory, format 3\n")
    said = refused("serve", "--clock", "manual", "--data-dir", tmp_path / "data", code=3)
    assert "`ebb backup`" in said and "`ebb restore`" in said, said


def test_a_newer_backup_is_refused_with_the_way_out(tmp_path):
    newer = tmp_path / "newer.ebb"
    shutil.copy(fixture.HERE / "backup-1.ebb", newer)
    newer.write_bytes(newer.read_bytes().replace(b"backup, format 1", b"backup, format 2", 1))
    for words in (["verify"], ["restore", "--data-dir", tmp_path / "x"]):
        said = refused(words[0], newer, *words[1:])
        assert "format 2" in said and "the version that wrote it" in said, said
    assert not (tmp_path / "x").exists()
    run("verify", fixture.HERE / "backup-1.ebb")
