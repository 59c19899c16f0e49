"""A run that is killed at any moment and resumed with --resume has the result of an uninterrupted
run."""

import collections
import json
import random

import pytest
from bson import ObjectId
from lib.nosql import stripped
from lib.seed import SEED

from export.tools import (
    exported,
    imported,
    interrupted,
    killed_over_and_over,
    mongo,
    nosql,
    raw,
    refusals,
    run,
)

ROWS = 9_000
ITEMS = 2_000


def words(place, file, *flags):
    return ["export", *place, "--out", file, *flags]


def filled(collection):
    """Inserts ids of several types, so that a run resumes after one of each."""
    kinds = (lambda n: n, lambda n: f"s{n}", lambda n: {"n": n}, lambda n: ObjectId(b"%012d" % n))
    collection.insert_many(
        {"_id": kinds[n % 4](n), "n": n, "pad": "x" * (n % 300)} for n in range(ROWS)
    )


def test_an_export_that_is_killed(server, database, tmp_path):
    filled(database["c"])
    place = mongo(server, "c")
    exported(place, tmp_path / "whole")
    begun = tmp_path / "cut.export-state", "documents"
    killed_over_and_over(words(place, tmp_path / "cut"), random.Random(SEED), begun=begun)
    assert (tmp_path / "cut").read_bytes() == (tmp_path / "whole").read_bytes()
    assert sorted(it.name for it in tmp_path.iterdir()) == ["cut", "whole"]
    # The export is complete: it is neither resumed nor replaced.
    said = run(*words(place, tmp_path / "cut"), "--resume", code=1)[1]
    assert "already exists" in said
    # A part of it as a table, whose header comes once.
    part = ["--format", "csv", "-f", "n", "-q", '{"n":{"$gte":1000}}', "--limit", "4500"]
    killed_over_and_over(words(place, tmp_path / "part", *part), random.Random(SEED + 1))
    lines = (tmp_path / "part").read_text().splitlines()
    assert len(lines) == 4501 and lines[0] == "n" and len(set(lines)) == 4501


def test_an_export_of_items_that_is_killed(server, tmp_path):
    container = server.items.container("i", "many")
    assert container.define().status == 201
    made = tmp_path / "made"
    lines = [json.dumps({"id": f"{n}", "pk": n % 7, "pad": "x" * 300}) for n in range(ITEMS)]
    made.write_text("\n".join(lines))
    imported(nosql(server, "many"), made)
    exported(nosql(server, "many"), tmp_path / "whole")
    killed_over_and_over(words(nosql(server, "many"), tmp_path / "cut"), random.Random(SEED))
    assert (tmp_path / "cut").read_bytes() == (tmp_path / "whole").read_bytes()
    assert len((tmp_path / "cut").read_text().splitlines()) == ITEMS


@pytest.mark.parametrize("mode", ["insert", "upsert"])
def test_an_import_that_is_killed(server, database, tmp_path, mode):
    """Half of the documents have no id: each is inserted exactly once nevertheless. Some are
    refused, as malformed or by the server, and are reported once."""
    file, ledger = tmp_path / "in", collections.Counter()
    lines = []
    for n in range(ROWS):
        if n % 1000 == 500:
            lines.append(f'{{"n":{n}')
            continue
        id = f'"_id":{n},' if n % 2 else ""
        lines.append(f'{{{id}"n":{n},"u":{n if n % 1000 != 501 else 1}}}')
        ledger[n] += n % 1000 != 501
    file.write_text("\n".join(lines))
    database["c"].create_index("u", unique=True)
    place = ["import", file, *mongo(server, "c"), "--mode", mode, "--batch", "300", "--json"]
    begun = tmp_path / "in.import-state", "offset"
    said = killed_over_and_over(place, random.Random(SEED), code=1, begun=begun)
    found = collections.Counter(row["n"] for row in database["c"].find())
    assert found == +ledger
    lines = [line for line, _ in refusals(file)]
    assert lines == sorted(n + 1 for n in range(ROWS) if n % 1000 in (500, 501))
    assert not (tmp_path / "in.import-state").exists()
    if not said:
        return
    # The report of the last run covers all runs.
    said = json.loads(said)
    assert (said["read"], said["refused"]) == (ROWS, 2 * (ROWS // 1000))
    if mode == "insert":
        assert said["inserted"] == len(found) and said["expired_on_arrival"] == 0


def test_an_import_of_an_array_that_is_killed(server, database, tmp_path):
    """All elements are on few lines, most without an id: each is inserted exactly once."""
    file = tmp_path / "in"
    elements = [json.dumps({"n": n, "pad": ["]", "\\", {"x": n}]}) for n in range(ROWS)]
    elements[700] = '{"n":}'
    parted = (",\n" if n % 900 == 0 else "," for n in range(ROWS))
    text = "".join(element + comma for element, comma in zip(elements, parted, strict=True))
    file.write_text(f"[{text.rstrip().rstrip(',')}]")
    place = ["import", file, *mongo(server, "c"), "--batch", "300"]
    begun = tmp_path / "in.import-state", "offset"
    killed_over_and_over(place, random.Random(SEED), code=1, begun=begun)
    found = sorted(row["n"] for row in database["c"].find())
    assert found == [n for n in range(ROWS) if n != 700]
    assert [line for line, _ in refusals(file)] == [2]


def test_an_import_of_items_that_is_killed(server, tmp_path):
    container = server.items.container("i", "killed")
    assert container.define().status == 201
    file = tmp_path / "in"
    items = [{"id": f"{n}", "pk": f"{n % 5}", "n": n} for n in range(ITEMS)]
    file.write_text("".join(json.dumps(item) + "\n" for item in items))
    place = ["import", file, *nosql(server, "killed"), "--batch", "100"]
    begun = tmp_path / "in.import-state", "offset"
    killed_over_and_over(place, random.Random(SEED), begun=begun)
    found = sorted(map(stripped, container.rows()), key=lambda row: row["n"])
    assert found == items


def test_an_interrupt_leaves_what_can_go_on(server, database, tmp_path):
    filled(database["c"])
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    exported(mongo(server, "c"), whole)
    said = interrupted(words(mongo(server, "c"), cut), tmp_path / "cut.export-state", "documents")
    assert "--resume" in said
    exported(mongo(server, "c"), cut, "--resume")
    assert cut.read_bytes() == whole.read_bytes()
    place = [*mongo(server, "copy"), "--batch", "20"]
    said = interrupted(["import", whole, *place], tmp_path / "whole.import-state", "offset")
    assert "--resume" in said
    anew = run("import", whole, *place, code=1)[1]
    assert "is unfinished" in anew
    imported(place, whole, "--resume")
    assert raw(database["copy"]) == raw(database["c"])


def test_other_arguments_do_not_go_on(server, database, tmp_path):
    filled(database["c"])
    cut = tmp_path / "cut"
    state = tmp_path / "cut.export-state"
    interrupted(words(mongo(server, "c"), cut), state, "documents")
    for flags in (["-q", '{"n":1}'], ["--relaxed"], ["--limit", "5"]):
        said = run(*words(mongo(server, "c"), cut, *flags), "--resume", code=1)[1]
        assert "belongs to a different export" in said
    said = run(*words(mongo(server, "c"), cut), code=1)[1]
    assert "is unfinished" in said and not cut.exists()
    (tmp_path / "cut.export-part").write_bytes(b"")
    said = run(*words(mongo(server, "c"), cut), "--resume", code=1)[1]
    assert "was changed since the earlier run" in said
    state.write_text("{")
    said = run(*words(mongo(server, "c"), cut), "--resume", code=1)[1]
    assert "start over" in said


def test_an_export_does_not_go_on_with_another_collection_of_the_name(server, database, tmp_path):
    filled(database["c"])
    cut = tmp_path / "cut"
    interrupted(words(mongo(server, "c"), cut), tmp_path / "cut.export-state", "documents")
    database["c"].drop()
    filled(database["c"])
    said = run(*words(mongo(server, "c"), cut), "--resume", code=1)[1]
    assert "dropped and created again" in said and not cut.exists()


def test_an_import_does_not_take_another_file_for_the_one_before(server, database, tmp_path):
    daily = tmp_path / "daily"
    lines = [json.dumps({"_id": n, "pad": "x" * 200}) for n in range(ROWS)]
    daily.write_text("\n".join(lines))
    place = [*mongo(server, "c"), "--batch", "300"]
    imported(place, daily)
    assert not (tmp_path / "daily.import-state").exists()
    # A new file of the same name, after a complete run: all of it is imported.
    daily.write_text("\n".join(json.dumps({"_id": ROWS + n}) for n in range(1000)))
    said = imported(place, daily, "--resume")
    assert (said["read"], said["inserted"], said["read_by_earlier_runs"]) == (1000, 1000, None)
    # After an incomplete run it is refused, with the difference.
    database["c"].drop()
    daily.write_text("\n".join(lines))
    interrupted(["import", daily, *place], tmp_path / "daily.import-state", "offset")
    there = database["c"].count_documents({})
    daily.write_text("\n".join(json.dumps({"_id": 2 * ROWS + n}) for n in range(1000)))
    said = run("import", daily, *place, "--resume", code=1)[1]
    assert "is not the file" in said and "bytes and has" in said
    assert database["c"].count_documents({}) == there
    (tmp_path / "daily.import-state").unlink()
    assert imported(place, daily, "--resume")["inserted"] == 1000
