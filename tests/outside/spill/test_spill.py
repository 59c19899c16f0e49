"""Sorts, groups and buckets that exceed memory: they use temporary files, return correct results,
show no documents that expired during them, and leave no files behind."""

import concurrent.futures
import contextlib
import os
import pathlib
import urllib.request

import pymongo
import pymongo.errors
import pytest
from lib.server import Server

#: 160 MB of documents, while a stage may hold 100 MB.
COUNT, SIZE = 16_000, 10_000
MEMORY = ["--memory", "1GB"]


def documents():
    for at in range(COUNT):
        # The factor has no common divisor with the count: every rank occurs once.
        yield {
            "_id": at,
            "rank": at * 7919 % COUNT,
            "user": at % 4000,
            "third": at % 3,
            "text": f"{at:06d}" * (SIZE // 6),
        }


@pytest.fixture(scope="module")
def server():
    with Server(data_dir=True, flags=MEMORY) as server:
        found = server.client.db.c
        batch = list(documents())
        for begin in range(0, COUNT, 1000):
            found.insert_many(batch[begin : begin + 1000])
        yield server


def temporary_bytes(server):
    with urllib.request.urlopen(f"{server.admin_url}/metrics", timeout=10) as reply:
        lines = reply.read().decode().splitlines()
    return int(next(line.split()[-1] for line in lines if line.startswith("ebb_temporary_bytes ")))


def deleted_files(server):
    """Returns the deleted files that the process holds open."""
    folder = pathlib.Path(f"/proc/{server.process.pid}/fd")
    links = []
    for file in folder.iterdir():
        with contextlib.suppress(OSError):
            links.append(os.readlink(file))
    return [link for link in links if "/tmp/" in link and link.endswith("(deleted)")]


def test_a_sort_that_memory_does_not_hold(server):
    found = server.client.db.c
    ranks = [document["rank"] for document in found.find({}, {"rank": 1}).sort("rank", -1)]
    assert ranks == list(range(COUNT - 1, -1, -1))
    ties = [
        (it["third"], it["_id"])
        for it in found.aggregate([{"$sort": {"third": 1}}, {"$project": {"third": 1}}])
    ]
    assert ties == sorted(ties)
    page = list(found.find().sort("rank", 1).skip(15_000).limit(3))
    assert [it["rank"] for it in page] == [15_000, 15_001, 15_002]
    assert temporary_bytes(server) == 0
    assert deleted_files(server) == []


def test_groups_that_memory_does_not_hold(server):
    found = server.client.db.c
    groups = {
        it["_id"]: it
        for it in found.aggregate(
            [
                {
                    "$group": {
                        "_id": "$user",
                        "texts": {"$push": "$text"},
                        "n": {"$sum": "$rank"},
                        "first": {"$first": "$_id"},
                        "ids": {"$addToSet": "$_id"},
                    }
                }
            ]
        )
    }
    assert len(groups) == 4000
    for user, group in groups.items():
        members = range(user, COUNT, 4000)
        assert group["first"] == user
        assert sorted(group["ids"]) == list(members)
        assert group["n"] == sum(at * 7919 % COUNT for at in members)
        assert [text[:6] for text in group["texts"]] == [f"{at:06d}" for at in members]
    buckets = list(found.aggregate([{"$bucketAuto": {"groupBy": "$rank", "buckets": 4}}]))
    assert [it["count"] for it in buckets] == [COUNT // 4] * 4
    both = list(
        found.aggregate(
            [
                {"$sort": {"rank": 1}},
                {"$group": {"_id": "$_id", "t": {"$push": "$$ROOT"}}},
                {"$sort": {"_id": -1}},
                {"$project": {"_id": 1}},
            ]
        )
    )
    assert [it["_id"] for it in both] == list(range(COUNT - 1, -1, -1))


@pytest.mark.parametrize(
    "stage",
    [
        {"$sort": {"rank": 1}},
        {"$group": {"_id": "$user", "texts": {"$push": "$text"}}},
        {"$bucketAuto": {"groupBy": "$rank", "buckets": 2}},
    ],
)
def test_who_does_not_allow_it_is_refused(server, stage):
    with pytest.raises(pymongo.errors.OperationFailure) as refused:
        list(server.client.db.c.aggregate([stage], allowDiskUse=False))
    assert refused.value.code == 292


def test_find_without_disk_use_is_refused(server):
    with pytest.raises(pymongo.errors.OperationFailure) as refused:
        list(server.client.db.c.find(allow_disk_use=False).sort("rank", 1))
    assert refused.value.code == 292


def test_many_at_once_share_the_memory(server):
    def sort(direction):
        rows = server.client.db.c.find({}, {"rank": 1}).sort("rank", direction)
        return [document["rank"] for document in rows]

    with concurrent.futures.ThreadPoolExecutor(8) as crowd:
        answers = list(crowd.map(sort, [1, -1] * 4))
    assert all(sorted(answer) == list(range(COUNT)) for answer in answers)
    assert answers[0] == answers[1][::-1]
    assert server.rss() < (1 << 30)


def test_an_open_cursor_holds_a_file_and_gives_it_back(server):
    cursor = server.client.db.c.find({}, {"rank": 1}, batch_size=10).sort("rank", 1)
    next(cursor)
    assert temporary_bytes(server) > 100 << 20
    assert len(deleted_files(server)) == 1
    cursor.close()
    assert temporary_bytes(server) == 0
    assert deleted_files(server) == []


def test_what_dies_while_it_waits_in_a_file_is_not_shown():
    with Server(data_dir=True, flags=MEMORY) as server:
        found = server.client.db.c
        found.create_index("_ts", expireAfterSeconds=1_000_000)
        for begin in range(0, COUNT, 1000):
            found.insert_many(
                [
                    {"_id": at, "rank": -at, "text": "x" * SIZE, **({"ttl": 60} if at % 2 else {})}
                    for at in range(begin, begin + 1000)
                ]
            )
        cursor = found.find({}, {"rank": 1}, batch_size=100).sort("rank", 1)
        shown = [next(cursor)["_id"] for _ in range(100)]
        assert shown == list(range(COUNT - 1, COUNT - 101, -1))
        server.advance(60_000)
        rest = [document["_id"] for document in cursor]
        assert rest == [at for at in range(COUNT - 101, -1, -1) if at % 2 == 0]


def test_a_killed_server_leaves_no_file():
    with Server(data_dir=True, flags=MEMORY) as server:
        found = server.client.db.c
        for begin in range(0, COUNT, 1000):
            found.insert_many(
                [{"rank": -at, "text": "x" * SIZE} for at in range(begin, begin + 1000)]
            )
        cursor = found.find(batch_size=10).sort("rank", 1)
        next(cursor)
        folder = pathlib.Path(server.data_dir) / "tmp"
        assert folder.is_dir()
        assert list(folder.iterdir()) == []
        (folder / ".tmp-of-another-system").write_bytes(b"x")
        server.kill()
        server.start()
        assert list(folder.iterdir()) == []
        assert server.client.db.c.count_documents({}) == COUNT
