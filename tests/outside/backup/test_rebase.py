"""`--rebase-ttl`: the time between backup and restore does not count, for documents and items of
every class; TTL indexes on dates are not affected."""

import pytest
from lib.server import Server, date

from backup.tools import backup, follow, restore, restored, sound

#: Milliseconds by which the server's wall clock is behind the machine's, which the restore uses.
BEHIND_MS = 3_600_000


@pytest.fixture
def taken(tmp_path):
    """A folder with a backup that was taken an hour ago."""
    wall = tmp_path / "wall"
    wall.write_text(str(-BEHIND_MS))
    flags = ["--test-wall", str(wall)]
    with Server(data_dir=True, clock="system", flags=flags, nosql=True) as server:
        database = server.client["d"]
        own = database["own"]
        own.create_index("_ts", expireAfterSeconds=-1)
        own.create_index("k")
        own.insert_many([{"_id": n, "k": n % 3, "ttl": 600} for n in range(300)])
        own.insert_many([{"_id": f"never{n}"} for n in range(10)])
        default = database["default"]
        default.create_index("_ts", expireAfterSeconds=900)
        default.insert_many([{"_id": n} for n in range(40)])
        dated = database["dated"]
        dated.create_index("at", expireAfterSeconds=0)
        now = server.now_ms()
        dated.insert_many([{"_id": n, "at": date(now + 1_800_000)} for n in range(5)])
        server.items.create_database("i")
        container = server.items.container("i", "c")
        assert container.define(defaultTtl=700).status == 201
        for number in range(20):
            assert container.upsert({"id": f"{number}", "pk": "a"}).status == 201
        backup(server, tmp_path / "b.ebb")
        assert server.stop() == 0
    return tmp_path


def found(server):
    database = server.client["d"]
    container = server.items.container("i", "c")
    return {
        "own": database["own"].count_documents({}),
        "by index": len(list(database["own"].find({"k": 1}))),
        "counted": database["own"].estimated_document_count(),
        "default": database["default"].count_documents({}),
        "dated": database["dated"].count_documents({}),
        "items": len(container.rows()),
    }


def test_without_it_time_has_passed(taken):
    said = restore(taken / "b.ebb", taken / "copy")
    assert (said["documents"], said["expired_on_arrival"]) == (375, 365)
    with restored(taken / "copy", clock="system", nosql=True) as copy:
        assert found(copy) == {
            "own": 10,
            "by index": 0,
            "counted": 10,
            "default": 0,
            "dated": 0,
            "items": 0,
        }


def test_with_it_lives_go_on_where_they_stood(taken):
    said = restore(taken / "b.ebb", taken / "copy", "--rebase-ttl")
    # Documents that expire by their own dates have expired.
    assert (said["documents"], said["expired_on_arrival"]) == (375, 5)
    sound(taken / "copy")
    wall = taken / "later"
    wall.write_text("0")
    flags = ["--test-wall", str(wall)]
    whole = {
        "own": 310,
        "by index": 100,
        "counted": 310,
        "default": 40,
        "dated": 0,
        "items": 20,
    }
    with restored(taken / "copy", clock="system", nosql=True, flags=flags) as copy:
        assert found(copy) == whole
        for later_s, gone in [
            (400, {}),
            (650, {"own": 10, "by index": 0, "counted": 10}),
            (800, {"own": 10, "by index": 0, "counted": 10, "items": 0}),
            (1_000, {"own": 10, "by index": 0, "counted": 10, "items": 0, "default": 0}),
        ]:
            jump(copy, wall, later_s * 1_000)
            assert found(copy) == {**whole, **gone}, later_s
        copy.leave()
    sound(taken / "copy")


def jump(server, wall, to_ms):
    """Moves the server's wall clock, and waits until its database time follows."""
    before = server.now_ms()
    wall.write_text(str(to_ms))
    follow(server, before + 60_000)
