"""Documents that an import refuses: each is reported with its line and reason, and only fatal
errors stop the import."""

import json

from export.tools import imported, mongo, nosql, refusals, run

#: A line, and a part of the reason for its refusal; None if it is imported.
LINES = [
    (b'{"_id":1}', None),
    (b'{"_id":1}', "duplicate key"),
    (b'{"_id":2', "EOF"),
    (b"[1]", "expected an object"),
    (b"no json", "expected"),
    (b'{"_id":"\xff"}', "unicode"),
    (b'{"_id":{"$oid":"xyz"}}', "$oid"),
    (b'{"_id":3,"a":{"$date":"yesterday"}}', "$date"),
    (b'{"_id":4,"a":{"$numberInt":"1.5"}}', "$numberInt"),
    (b'{"_id":5,"a":' + b"[" * 100_000, "nested deeper"),
    (b'{"_id":6,"a":' + b"[" * 170 + b"]" * 170 + b"}", None),
    (b'{"_id":[7]}', "array"),
    (b'{"_id":8,"_ts":5}', "_ts"),
    (b'{"_id":9,"a\\u0000":1}', "U+0000"),
    (b'{"_id":10,"a":"' + b"x" * (16 << 20) + b'"}', "16 MiB"),
    (b"   ", None),
    (b'{"_id":11,"a":"' + b"x" * ((16 << 20) - 200) + b'"}', None),
    (b'{"_id":12}', None),
]


def test_each_line_has_its_reason(server, database, tmp_path):
    file = tmp_path / "in"
    file.write_bytes(b"\r\n".join(line for line, _ in LINES))
    said = imported(mongo(server, "c"), file, code=1)
    found = dict(refusals(file))
    for number, (line, want) in enumerate(LINES, 1):
        if want is None:
            assert number not in found, (line[:60], found.get(number))
        else:
            assert want in found.get(number, ""), (line[:60], found.get(number))
    wrong = sum(want is not None for _, want in LINES)
    right = len(LINES) - wrong - 1
    assert (said["read"], said["inserted"], said["refused"]) == (wrong + right, right, wrong)
    assert database["c"].count_documents({}) == right
    # The refused document is recorded with the reason, a long one truncated.
    for line in file.with_name("in.refused").read_text().splitlines():
        assert len(line) < 500_000 and json.loads(line)["document"]


def test_the_first_refusal_ends_it_where_that_is_asked(server, database, tmp_path):
    file = tmp_path / "in"
    lines = [f'{{"_id":{n}}}' for n in range(50)]
    for wrong, bad in (("parsed", '{"_id":'), ("sent", '{"_id":3}')):
        lines[20] = bad
        file.write_text("\n".join(lines))
        place = mongo(server, wrong)
        said = imported(place, file, "--stop-on-error", "--batch", "7", code=1)
        assert (said["stopped_at_line"], said["inserted"], said["refused"]) == (21, 20, 1)
        assert database[wrong].count_documents({}) == 20
        # The file was not corrected: it stops there again. Afterwards it continues.
        said = imported(place, file, "--stop-on-error", "--batch", "7", "--resume", code=1)
        assert (said["stopped_at_line"], said["refused"]) == (21, 1)
        lines[20] = '{"_id":20}'
        file.write_text("\n".join(lines))
        said = imported(place, file, "--stop-on-error", "--batch", "7", "--resume")
        assert (said["read"], said["inserted"], said["refused"]) == (50, 50, 0)
        assert database[wrong].count_documents({}) == 50


def test_items_are_refused_one_by_one(server, tmp_path):
    container = server.items.container("i", "refused")
    assert container.define(defaultTtl=-1).status == 201
    file = tmp_path / "in"
    lines = [
        ('{"id":"a","pk":"x"}', None),
        ('{"id":"a","pk":"x"}', "409"),
        ('{"id":"a","pk":"y"}', None),
        ('{"id":5,"pk":"x"}', "400"),
        ('{"id":"b","pk":"x","ttl":0}', "400"),
        ('{"pk":"x"}', None),
        ('{"id":"c","pk":"x"', "EOF"),
    ]
    file.write_text("\n".join(line for line, _ in lines))
    said = imported(nosql(server, "refused"), file, code=1)
    found = dict(refusals(file))
    for number, (line, want) in enumerate(lines, 1):
        assert (want or "") in found.get(number, ""), (line, found)
        assert (number in found) == (want is not None), (line, found)
    assert (said["inserted"], said["refused"]) == (3, 4)
    said = imported(nosql(server, "refused"), file, "--stop-on-error", "--mode", "upsert", code=1)
    assert (said["stopped_at_line"], said["replaced"]) == (4, 3)


def test_tables_that_are_wrong(server, database, tmp_path):
    file = tmp_path / "in.csv"
    file.write_bytes(b'_id,n\n1,2\n2\n3,"a\nb",c\n4,\xff\n5,6\n')
    said = imported(mongo(server, "c"), file, "--format", "csv", code=1)
    assert [line for line, _ in refusals(file)] == [3, 4, 6]
    assert (said["inserted"], said["refused"]) == (2, 3)
    # A missing quote swallows the following lines; the error names its line.
    file.write_bytes(b'_id,n\n7,8\n9,"' + b"x" * (70 << 20))
    said = run("import", file, *mongo(server, "c"), "--format", "csv", code=1)[1]
    assert "line 3" in said and "is a quote missing" in said and str(file) in said
    assert database["c"].count_documents({}) == 3
    for text, want in [(b"", "no header"), (b"a,a\n", "duplicate column"), (b"a\xff\n", "UTF-8")]:
        said = run("import", "-", *mongo(server, "c"), "--format", "csv", stdin=text, code=1)[1]
        assert want in said


def test_what_is_typed_wrongly(server, tmp_path):
    for words, code, want in [
        (["export", *mongo(server, "c"), "-q", "{"], 1, "--query is not a document"),
        (["export", *mongo(server, "c"), "-q", '{"$nothing":1}'], 1, "unknown"),
        (["export", *nosql(server, "none")], 1, "there is no container none in the database i"),
        (
            ["export", *nosql(server, "none"), "--out", tmp_path / "none.json"],
            1,
            "there is no container none",
        ),
        (["export", *mongo(server, "nowhere")], 1, "there is no collection nowhere"),
        (
            ["export", *mongo(server, "nowhere"), "--out", tmp_path / "none.json"],
            1,
            "no collection",
        ),
        (["export", *nosql(server, "refused"), "-q", "SELECT VALUE c.id FROM c"], 1, "not objects"),
        (["export", *nosql(server, "refused"), "-q", "SELEC"], 1, "400"),
        (["export", *mongo(server, "c"), "--out", tmp_path / "no" / "x"], 1, "cannot write"),
        (["import", tmp_path / "none", *mongo(server, "c")], 1, "cannot read"),
        (["import", "-", *nosql(server, "refused"), "--mode", "merge"], 1, "--mode upsert"),
        (["import", "-", "--uri", "mongodb://127.0.0.1:1", "-d", "d", "-c", "c"], 1, "no answer"),
        (["export", *mongo(server, "c"), "--format", "csv"], 2, "--fields"),
        (["export", "-d", "d"], 2, "--collection"),
    ]:
        said = run(*words, code=code)[1]
        assert want in said and "aka.ms" not in said, words
    # Failed exports leave no files.
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_written_through_links(server, database, tmp_path):
    victim = tmp_path / "victim"
    database["c"].insert_one({"_id": 0})
    for ending in (".import-state", ".import-state.new", ".refused"):
        victim.write_text("precious")
        file = tmp_path / f"in{ending}.json"
        file.write_bytes(b'{"_id":1}\n{x\n')
        file.with_name(file.name + ending).symlink_to(victim)
        said = run("import", file, *mongo(server, "c"), "--mode", "upsert", code=1)[1]
        assert "symbolic link" in said and victim.read_text() == "precious", ending
    for ending in ("", ".export-state", ".export-state.new", ".export-part"):
        out = tmp_path / f"out{ending}"
        out.with_name(f"{out.name}{ending}").symlink_to(victim)
        said = run("export", *mongo(server, "c"), "--out", out, code=1)[1]
        want = "symbolic link" if ending else "already exists"
        assert want in said and victim.read_text() == "precious", ending


def test_a_file_that_is_imported_twice_does_not_come_back_whole(server, database, tmp_path):
    file = tmp_path / "in"
    file.write_text("\n".join(json.dumps({"_id": n, "pad": "x" * 2000}) for n in range(5000)))
    imported(mongo(server, "c"), file)
    said = imported(mongo(server, "c"), file, code=1)
    assert (said["refused"], said["refused_as_id_exists"]) == (5000, 5000)
    refused = file.with_name("in.refused").read_text()
    counted = [json.loads(line).get("count", 1) for line in refused.splitlines()]
    assert sum(counted) == 5000 and len(refused) < file.stat().st_size / 3
