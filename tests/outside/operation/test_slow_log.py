"""The log of slow operations: a line for each that takes at least `--slow-ms`, with documents
examined, plan, client name and request id, and without values of the request. The admin address
shows those of the last day with their shapes. SIGHUP reloads the log level."""

import json
import signal
import time

import pytest
from lib.server import Server

SECRET = "a-value-that-nobody-logs"
COUNT = 200


def started(slow_ms):
    flags = ["--slow-ms", slow_ms, "--log-format", "json"]
    return Server(flags=flags, nosql=True, log_level="info")


def lines(server):
    """Returns the fields of the lines about slow operations, oldest first."""
    found = [json.loads(line) for line in server.log.read_text().splitlines()]
    return [line["fields"] for line in found if line["fields"]["message"] == "slow operation"]


@pytest.fixture(scope="module")
def server():
    with started("0") as server:
        server.items.create_database("d")
        yield server


def one(server, command, **having):
    """Returns the last line about a command, which must have these fields."""
    found = [line for line in lines(server) if line["command"] == command]
    assert found, f"no line of {command}"
    last = found[-1]
    assert {name: last[name] for name in having} == having, last
    assert last["ms"] >= 0
    return last


def test_commands_of_the_mongodb_api(server):
    client = server.connect(appname="the shop")
    shop = client.d.shop
    shop.insert_many([{"_id": n, "a": n % 10, "text": SECRET} for n in range(COUNT)])
    shop.create_index("a")
    same = {"api": "mongodb", "namespace": '"d.shop"', "app": '"the shop"', "failed": False}
    one(server, "insert", written=COUNT, returned=0, **same)
    shop.find_one({"text": SECRET + "x"})
    one(server, "find", examined=COUNT, returned=0, plan='"scan"', **same)
    assert len(list(shop.find({"a": 3}, batch_size=100))) == COUNT // 10
    indexed = one(server, "find", returned=COUNT // 10, plan='"index a_1"', **same)
    assert COUNT // 10 <= indexed["examined"] < COUNT
    for limit in (0, 1):
        assert len(list(shop.find({"_id": 5}, limit=limit))) == 1
        one(server, "find", examined=1, returned=1, plan='"ids"', **same)
    # Each batch of a cursor is an operation of its own.
    assert len(list(shop.find({}, batch_size=150))) == COUNT
    rest = one(server, "getMore", returned=COUNT - 150, plan='"scan"', **same)
    assert rest["examined"] <= COUNT - 150 + 1
    shop.update_many({"a": 4}, {"$set": {"text": SECRET}, "$inc": {"b": 1}})
    one(server, "update", written=COUNT // 10, **same)
    shop.delete_many({"a": 4})
    one(server, "delete", written=COUNT // 10, **same)
    assert client.d.command("aggregate", "shop", pipeline=[{"$match": {"b": SECRET}}], cursor={})
    one(server, "aggregate", plan='"scan"', **same)
    with pytest.raises(Exception, match="unknown operator"):
        shop.find_one({"a": {"$secret": SECRET}})
    one(server, "find", **{**same, "failed": True})
    client.d.command("customAction", "GetCollection", collection="shop")
    one(server, "customAction", **same)
    requests = [line["request"] for line in lines(server) if line["api"] == "mongodb"]
    assert len(set(requests)) == len(requests)
    client.close()


def test_requests_of_the_nosql_api(server):
    container = server.items.container("d", "i")
    assert container.define().status == 201
    sent = {"x-ms-activity-id": "11111111-2222-3333-4444-555555555555", "user-agent": "the till"}
    for n in range(20):
        body = {"id": str(n), "pk": "a", "text": SECRET}
        assert container.create(body, headers=sent).status == 201
    same = {
        "api": "nosql",
        "namespace": '"d.i"',
        "app": '"the till"',
        "request": f'"{sent["x-ms-activity-id"]}"',
    }
    made = one(server, "create item", status=201, **same)
    assert made["units"] > 0
    assert container.read("1", "a", headers=sent).status == 200
    one(server, "read item", status=200, **same)
    query = {
        "query": "SELECT * FROM c WHERE c.text = @x",
        "parameters": [{"name": "@x", "value": SECRET}],
    }
    reply = server.items.call(
        "POST",
        container.docs,
        query,
        {
            "content-type": "application/query+json",
            "x-ms-documentdb-isquery": "True",
            "x-ms-documentdb-query-enablecrosspartition": "True",
            **sent,
        },
    )
    assert reply.json["_count"] == 20
    one(server, "query", status=200, returned=20, examined=20, plan='"scan"', **same)
    assert container.read("none", "a", headers=sent).status == 404
    one(server, "read item", status=404, **same)


def test_no_line_has_a_value(server):
    assert len(lines(server)) > 20
    assert SECRET not in server.log.read_text()


@pytest.mark.parametrize("slow_ms", ["off", "60000"])
def test_what_is_not_slow_is_not_named(slow_ms):
    with started(slow_ms) as server:
        server.client.d.c.insert_one({"_id": 1})
        assert server.items.create_database("d").status == 201
        assert lines(server) == []


def test_those_of_the_last_day_are_told_with_what_they_asked(server):
    server.client.d.told.insert_one({"_id": 1, "text": SECRET})
    server.client.d.told.find_one({"text": SECRET})
    told = server.admin("/_ebb/slow")
    assert told["threshold_ms"] == 0
    find, insert = told["operations"][:2]
    assert (find["operation"], insert["operation"]) == ("find", "insert")
    assert SECRET in find["query"]
    assert insert["query"] is None
    of_nosql = [it for it in told["operations"] if it["api"] == "nosql" and it["query"]]
    assert SECRET in of_nosql[0]["query"]
    for n in range(300):
        server.client.d.told.find_one({"_id": n})
    assert len(server.admin("/_ebb/slow")["operations"]) == 200


def test_they_outlive_a_restart_without_what_they_asked():
    flags = ["--slow-ms", "0", "--log-format", "json"]
    with Server(flags=flags, data_dir=True) as server:
        client = server.connect(appname="the shop")
        client.d.told.insert_one({"_id": 1, "text": SECRET})
        client.d.told.find_one({"text": SECRET})
        client.close()
        before = server.admin("/_ebb/slow")["operations"]
        assert any(SECRET in (it["query"] or "") for it in before)
        for _ in range(2):
            server.restart()
            after = server.admin("/_ebb/slow")["operations"]
            kept = [it for it in after if it["client"] == "the shop" and it["collection"] == "told"]
            assert [it["operation"] for it in kept] == ["find", "insert"], after
            assert [it["query"] for it in kept] == [None, None]
            assert {**kept[0], "query": None} == {**find_of(before), "query": None}
        files = list((server.data_dir / "figures").iterdir())
        assert "slow-newer" in [file.name for file in files]
        assert not any(SECRET.encode() in file.read_bytes() for file in files)
        server.kill()
        server.start()
        assert find_of(server.admin("/_ebb/slow")["operations"])["collection"] == "told"


def find_of(operations):
    """Returns the last find of the client `the shop`."""
    return next(it for it in operations if (it["client"], it["operation"]) == ("the shop", "find"))


def test_the_level_is_read_again_at_sighup(tmp_path):
    settings = tmp_path / "ebb.toml"
    settings.write_text('log-level = "warn"\n')
    flags = ["--config", str(settings), "--slow-ms", "0", "--log-format", "json"]
    with Server(flags=flags, log_level=None) as server:
        server.client.d.c.insert_one({"_id": 1})
        assert lines(server) == []

        def until_logged(level):
            """Has the settings read again, and waits until the log follows this level."""
            settings.write_text(f'log-level = "{level}"\n')
            server.process.send_signal(signal.SIGHUP)
            until = time.monotonic() + 10
            while True:
                before = len(lines(server))
                server.client.d.c.find_one({"_id": 1})
                if (len(lines(server)) == before) == (level == "warn"):
                    break
                assert time.monotonic() < until, server.log.read_text()

        until_logged("info")
        until_logged("warn")
        settings.write_text('log-level = "loud"\n')
        server.process.send_signal(signal.SIGHUP)
        until = time.monotonic() + 10
        while "the log level was not changed" not in server.log.read_text():
            assert time.monotonic() < until, server.log.read_text()
            time.sleep(0.01)
        assert server.admin("/status")["status"] == "ok"
