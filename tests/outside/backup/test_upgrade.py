"""Files of earlier versions: a data directory and a backup of the released formats open and show
their contents, and other formats are refused with a hint how to convert them."""

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
        unpack(fixture.HERE / "data-2.tar.xz", tmp_path)
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


def test_other_formats_are_refused_with_the_way_out(directory):
    mark = directory / "EBB"
    text = mark.read_text()
    for other in ("format 1", "format 3"):
        mark.write_text(text.replace("format 2", other))
        for words in (["serve", "--data-dir"], ["verify", "--data-dir"]):
            said = refused(*words, directory, code=3)
            assert other in said and "format 2" in said, said
            assert "take a backup to restore with this one" in said, said
    mark.write_text(text)
    sound(directory)


def test_a_newer_backup_is_refused_with_the_way_out(tmp_path):
    newer = tmp_path / "newer.ebb"
    shutil.copy(fixture.HERE / "backup-1.ebb", newer)
    newer.write_bytes(newer.read_bytes().replace(b"backup, format 1", b"backup, format 2", 1))
    for words in (["verify"], ["restore", "--data-dir", tmp_path / "x"]):
        said = refused(words[0], newer, *words[1:])
        assert "format 2" in said and "the version that wrote it" in said, said
    assert not (tmp_path / "x").exists()
    run("verify", fixture.HERE / "backup-1.ebb")
