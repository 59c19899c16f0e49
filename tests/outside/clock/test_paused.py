"""`ebb admin ttl`: reaping is paused, also over a crash, while documents still expire on time; the
pause is reported everywhere, and can be ended. Also the preview of another default TTL."""

import json
import subprocess

import pytest
from lib.server import AT_ONCE, EBB_BIN, Server

COUNT, TEXT = 300, "x" * 1_000
#: Minimum size of `COUNT` documents in bytes.
FULL = COUNT * len(TEXT)


def ebb(server, *words):
    """Runs `ebb admin`; returns exit code and output."""
    address = server.admin_url.removeprefix("http://")
    line = [EBB_BIN, "admin", *words, "--admin-addr", address]
    ran = subprocess.run(line, capture_output=True, text=True, timeout=60)
    return ran.returncode, ran.stdout + ran.stderr


@pytest.fixture
def server(tmp_path):
    flags = [*AT_ONCE, "--audit-file", str(tmp_path / "audit")]
    with Server(data_dir=True, flags=flags, nosql=True) as server:
        server.audit = tmp_path / "audit"
        server.items.create_database("d")
        yield server
        server.end()


def fill(server, life):
    server.client.d.c.create_index("_ts", expireAfterSeconds=1_000_000)
    server.client.d.c.insert_many([{"ttl": life, "text": TEXT} for _ in range(COUNT)])
    container = server.items.container("d", "i")
    assert container.define(defaultTtl=-1).status == 201
    for first in range(0, COUNT, 100):
        creates = [
            {
                "operationType": "Create",
                "resourceBody": {"id": str(n), "pk": "a", "ttl": life, "text": TEXT},
            }
            for n in range(first, first + 100)
        ]
        assert all(one["statusCode"] == 201 for one in container.batch("a", creates).json)
    return container


def counts(server, container):
    items = container.rows("SELECT VALUE COUNT(1) FROM c")[0]
    return server.client.d.c.count_documents({}), items


def test_a_pause_keeps_bytes_and_hides_what_expires(server):
    container = fill(server, 10)
    # A manual clock starts at a full second.
    server.advance(9_999)
    assert counts(server, container) == (COUNT, COUNT)
    assert ebb(server, "ttl")[1].startswith("reaping is running\n")
    code, text = ebb(server, "ttl", "pause")
    assert (code, text.splitlines()[0]) == (
        0,
        "reaping is paused: 'ebb admin ttl resume' resumes it",
    )
    server.advance(1)
    for _ in range(2):
        assert counts(server, container) == (0, 0)
        server.wait_for_passes(3)
        state = json.loads(ebb(server, "ttl", "--json")[1])
        assert state["paused"] and state["reaped_documents"] == 0
        waiting = state["unreaped_estimate"]
        assert waiting["documents"] == 2 * COUNT and waiting["bytes"] > 2 * FULL
        reaper = server.admin("/status")["reaper"]
        assert reaper["paused"] and reaper["paused_since_ms"] == state["paused_since_ms"]
        assert server.metric("ebb_ttl_reaping_paused") == 1
        code, found = ebb(server, "doctor")
        assert code == 1 and "WARNING reaping: reaping is paused" in found
        # The pause is kept over a crash.
        server.kill()
        server.start()
        assert "reaping is paused" in server.log.read_text()
    assert ebb(server, "ttl", "resume")[1].splitlines()[0] == "reaping is running"
    server.wait_until_reaped(("d", "c"))
    server.wait_until_reaped(("d", "i"), worth=server.items_worth_reaping)
    state = json.loads(ebb(server, "ttl", "--json")[1])
    assert not state["paused"] and state["paused_since_ms"] is None
    assert state["reaped_documents"] == 2 * COUNT
    assert server.metric("ebb_ttl_reaping_paused") == 0
    server.restart()
    assert "reaping is paused" not in server.log.read_text()
    assert not server.admin("/_ebb/ttl")["paused"]
    audited = server.audit.read_text()
    assert audited.count("/_ebb/ttl/pause") == 1 and audited.count("/_ebb/ttl/resume") == 1


def test_a_preview_says_what_a_default_would_do(server):
    fill(server, -1)
    server.client.d.c.insert_many([{"_id": n} for n in range(5)])
    server.advance(100_000)
    for default, now in ((["60"], 5), (["-1"], 0), (["off"], 0), (["1000000"], 0)):
        code, text = ebb(server, "ttl", "preview", "d", "c", *default, "--json")
        assert code == 0, text
        assert json.loads(text)["dies_now"]["documents"] == now
    code, text = ebb(server, "ttl", "preview", "d", "c", "60")
    assert text.startswith("at once: 5 documents, ")
    code, text = ebb(server, "ttl", "preview", "d", "i", "60", "--door", "nosql")
    assert text.startswith("at once: 0 documents, ")
    assert server.client.d.c.count_documents({}) == COUNT + 5, "a preview changes nothing"
    for words, why in (
        (["d", "none", "60"], "there is no collection d.none"),
        (["d", "c", "0"], "default must be null, -1 or 1 to 2147483647"),
        (["d", "c", "2147483648"], "default must be null, -1 or 1 to 2147483647"),
    ):
        code, text = ebb(server, "ttl", "preview", *words)
        assert code != 0 and why in text, text
