"""A backup onto a full disk, or a restore, fails with a clear error and leaves no files, and
succeeds once there is space."""

import base64
import random

import pytest
from faults.disk import Disk
from lib.server import Server

from backup.tools import at, backup, refused, restore, restored

ROWS = 2_000


@pytest.fixture
def disk():
    with Disk(64) as disk:
        yield disk


def test_nothing_is_left_on_a_full_disk(disk, tmp_path):
    noise = random.Random(7)
    rows = [
        {"_id": n, "pad": base64.b85encode(noise.randbytes(4_000)).decode()} for n in range(ROWS)
    ]
    with Server(data_dir=True) as server:
        server.client["d"]["c"].insert_many(rows)
        disk.fill(leave=3 << 20)
        said = refused("backup", f"{disk.path}/", *at(server))
        assert "space" in said, said
        assert [it.name for it in disk.path.iterdir() if it.suffix in (".ebb", ".part")] == []
        whole = backup(server, tmp_path / "b.ebb")
        said = refused("restore", whole["file"], "--data-dir", disk.path / "copy")
        assert "space" in said, said
        assert not (disk.path / "copy").exists()
        disk.empty()
        again = backup(server, f"{disk.path}/")
        assert again["bytes"] == whole["bytes"]
    restore(again["file"], tmp_path / "copy")
    with restored(tmp_path / "copy") as copy:
        assert copy.client["d"]["c"].count_documents({}) == ROWS
