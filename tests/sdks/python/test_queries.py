"""The query language, with queries of many shapes over the same items."""

import pytest
from conftest import TEXTS, bare, ids, refused

PEOPLE = [
    {
        "id": "1",
        "pk": "a",
        "name": "Ada",
        "age": 36,
        "city": "London",
        "tags": ["x", "y"],
        "pets": [{"n": "cat", "age": 2}],
    },
    {"id": "2", "pk": "a", "name": "Bob", "age": 25, "city": "Paris", "tags": ["y"], "pets": []},
    {"id": "3", "pk": "a", "name": "Cyd", "age": 25, "city": "London", "tags": []},
    {
        "id": "4",
        "pk": "b",
        "name": "Dan",
        "age": 61,
        "city": "Paris",
        "pets": [{"n": "dog", "age": 7}, {"n": "cat", "age": 1}],
    },
    {"id": "5", "pk": "b", "name": "Eve", "age": None, "city": "Rome"},
    {"id": "6", "pk": "c", "name": "fay", "city": "Rome", "nested": {"deep": [1, 2, 3]}},
]
EVERYWHERE = [
    ("SELECT VALUE c.id FROM c WHERE c.age = 25", ["2", "3"]),
    ("SELECT VALUE c.id FROM c WHERE c.age > 25 AND c.age <= 61", ["1", "4"]),
    ("SELECT VALUE c.id FROM c WHERE c.age != 25", ["1", "4", "5"]),
    (
        "SELECT VALUE c.id FROM c WHERE c.city IN ('Rome', 'Oslo') OR c.name = 'Ada'",
        ["1", "5", "6"],
    ),
    ("SELECT VALUE c.id FROM c WHERE c.age BETWEEN 30 AND 61", ["1", "4"]),
    ("SELECT VALUE c.id FROM c WHERE NOT (c.city = 'Paris')", ["1", "3", "5", "6"]),
    ("SELECT VALUE c.id FROM c WHERE NOT IS_DEFINED(c.age)", ["6"]),
    ("SELECT VALUE c.id FROM c WHERE IS_NULL(c.age)", ["5"]),
    ("SELECT VALUE c.id FROM c WHERE c.age = null", ["5"]),
    ("SELECT VALUE c.id FROM c WHERE c.name LIKE '%d%'", ["1", "3"]),
    ("SELECT VALUE c.id FROM c WHERE STARTSWITH(c.name, 'F', true)", ["6"]),
    ("SELECT VALUE c.id FROM c WHERE CONTAINS(c.city, 'on')", ["1", "3"]),
    ("SELECT VALUE c.id FROM c WHERE ENDSWITH(c.city, 'is')", ["2", "4"]),
    ("SELECT VALUE c.id FROM c WHERE REGEXMATCH(c.name, '^[A-C]')", ["1", "2", "3"]),
    ("SELECT VALUE c.id FROM c WHERE ARRAY_CONTAINS(c.tags, 'y')", ["1", "2"]),
    ("SELECT VALUE c.id FROM c WHERE ARRAY_CONTAINS(c.pets, {'n': 'cat'}, true)", ["1", "4"]),
    ("SELECT VALUE c.id FROM c WHERE ARRAY_LENGTH(c.tags) = 0", ["3"]),
    ("SELECT VALUE c.id FROM c WHERE c.tags[0] = 'x'", ["1"]),
    ("SELECT VALUE c.id FROM c WHERE c['nested'].deep[2] = 3", ["6"]),
    (
        "SELECT VALUE c.id FROM c WHERE EXISTS(SELECT VALUE p FROM p IN c.pets WHERE p.age > 1)",
        ["1", "4"],
    ),
    ("SELECT VALUE c.id FROM c JOIN p IN c.pets WHERE p.n = 'cat'", ["1", "4"]),
    ("SELECT VALUE p.n FROM c JOIN p IN c.pets", ["cat", "cat", "dog"]),
    ("SELECT VALUE t FROM t IN c.tags", ["x", "y", "y"]),
    ("SELECT VALUE UPPER(c.name) FROM c WHERE c.pk = 'c'", ["FAY"]),
    ("SELECT VALUE CONCAT(c.id, '-', c.pk) FROM c WHERE c.age = 25", ["2-a", "3-a"]),
    ("SELECT VALUE c.id || '!' FROM c WHERE c.pk = 'b'", ["4!", "5!"]),
    ("SELECT VALUE c.age ?? -1 FROM c WHERE c.pk = 'c'", [-1]),
    (
        "SELECT VALUE (c.age > 30 ? 'old' : 'young') FROM c WHERE c.pk = 'a'",
        ["old", "young", "young"],
    ),
    ("SELECT VALUE c.age % 10 FROM c WHERE c.pk = 'a'", [5, 5, 6]),
    ("SELECT VALUE ROUND(c.age / 10) FROM c WHERE c.id = '1'", [4]),
    ("SELECT DISTINCT VALUE c.city FROM c", ["London", "Paris", "Rome"]),
    ("SELECT VALUE COUNT(1) FROM c", [6]),
    ("SELECT VALUE COUNT(c.age) FROM c", [5]),
    ("SELECT VALUE SUM(c.age) FROM c WHERE c.pk = 'a'", [86]),
    ("SELECT VALUE MIN(c.name) FROM c", ["Ada"]),
    ("SELECT VALUE MAX(c.age) FROM c WHERE IS_NUMBER(c.age)", [61]),
    ("SELECT VALUE AVG(c.age) FROM c WHERE c.pk = 'a'", [86 / 3]),
    (
        "SELECT VALUE ARRAY(SELECT VALUE p.n FROM p IN c.pets) FROM c WHERE c.id = '4'",
        [["dog", "cat"]],
    ),
    (
        (
            "SELECT VALUE (SELECT VALUE COUNT(1) FROM p IN c.pets) FROM c "
            "WHERE c.pk = 'b' AND c.id = '4'"
        ),
        [2],
    ),
    ("SELECT VALUE 1", [1]),
    ("SELECT VALUE {'a': [1, 'b', true, null]}", [{"a": [1, "b", True, None]}]),
    ("SELECT * FROM c WHERE false", []),
    ("SELECT VALUE c.id FROM c WHERE c.missing.deeper = 1", []),
]
ORDERED = [
    ("SELECT VALUE c.id FROM c ORDER BY c.name", ["1", "2", "3", "4", "5", "6"]),
    ("SELECT VALUE c.id FROM c ORDER BY c.name DESC", ["6", "5", "4", "3", "2", "1"]),
    ("SELECT TOP 2 VALUE c.id FROM c ORDER BY c.id", ["1", "2"]),
    ("SELECT VALUE c.id FROM c ORDER BY c.id OFFSET 2 LIMIT 3", ["3", "4", "5"]),
    ("SELECT VALUE c.id FROM c ORDER BY c.id OFFSET 5 LIMIT 3", ["6"]),
    ("SELECT VALUE c.name FROM c WHERE c.age >= 36 ORDER BY c.age DESC", ["Dan", "Ada"]),
    ("SELECT VALUE c.age FROM c WHERE c.pk = 'b' ORDER BY c.age", [None, 61]),
]
OBJECTS = [
    ("SELECT c.id, c.age FROM c WHERE c.pk = 'c'", [{"id": "6"}]),
    (
        "SELECT c.name AS who, c.tags[0] AS first FROM c WHERE c.id = '1'",
        [{"who": "Ada", "first": "x"}],
    ),
    (
        "SELECT c.id, p.n AS pet FROM c JOIN p IN c.pets WHERE p.age > 5",
        [{"id": "4", "pet": "dog"}],
    ),
    (
        "SELECT COUNT(1) AS n, MIN(c.age) AS low, MAX(c.age) AS high FROM c WHERE c.pk = 'a'",
        [{"n": 3, "low": 25, "high": 36}],
    ),
    ("SELECT 1 + 2 AS three, 'a' AS text", [{"three": 3, "text": "a"}]),
]
GROUPED = [
    (
        "SELECT c.city, COUNT(1) AS n FROM c GROUP BY c.city",
        [{"city": "London", "n": 2}, {"city": "Paris", "n": 2}, {"city": "Rome", "n": 2}],
    ),
    (
        "SELECT c.city, SUM(c.age) AS total FROM c WHERE IS_NUMBER(c.age) GROUP BY c.city",
        [{"city": "London", "total": 61}, {"city": "Paris", "total": 86}],
    ),
    (
        "SELECT c.pk, c.city, COUNT(1) AS n FROM c WHERE c.pk = 'a' GROUP BY c.pk, c.city",
        [{"pk": "a", "city": "London", "n": 2}, {"pk": "a", "city": "Paris", "n": 1}],
    ),
]


SQUARE = {"type": "Polygon", "coordinates": [[[0, 0], [2, 0], [2, 2], [0, 2], [0, 0]]]}


@pytest.fixture(scope="module")
def people(db):
    from azure.cosmos import PartitionKey

    container = db.create_container("people", PartitionKey("/pk"))
    for person in PEOPLE:
        container.create_item(person)
    return container


@pytest.fixture(scope="module")
def places(db):
    from azure.cosmos import PartitionKey

    container = db.create_container("places", PartitionKey("/id"))
    for name, at in [("corner", [0, 0]), ("north", [0, 1]), ("middle", [1, 1]), ("lost", [0, 99])]:
        container.create_item({"id": name, "at": {"type": "Point", "coordinates": at}})
    return container


@pytest.mark.parametrize(("text", "expected"), EVERYWHERE, ids=[text for text, _ in EVERYWHERE])
def test_results_in_any_order(people, query, text, expected):
    found = list(query(people, text))
    assert sorted(found, key=repr) == sorted(expected, key=repr)


@pytest.mark.parametrize(
    ("text", "expected"), ORDERED + OBJECTS, ids=[text for text, _ in ORDERED + OBJECTS]
)
def test_results_in_their_order(people, query, text, expected):
    assert list(query(people, text)) == expected


@pytest.mark.parametrize(("text", "expected"), GROUPED, ids=[text for text, _ in GROUPED])
def test_groups(people, query, text, expected):
    found = sorted(query(people, text), key=lambda group: group["city"])
    assert found == expected


def test_a_query_in_one_partition(people, query):
    assert ids(query(people, "SELECT * FROM c", partition_key="a")) == ["1", "2", "3"]
    assert list(query(people, "SELECT VALUE COUNT(1) FROM c", partition_key="b")) == [2]
    assert (
        list(query(people, "SELECT VALUE c.id FROM c ORDER BY c.age", partition_key="a"))[2] == "1"
    )
    assert list(query(people, "SELECT * FROM c", partition_key="none")) == []


def test_whole_items(people, query):
    found = list(query(people, "SELECT * FROM c WHERE c.id = '4'"))
    assert [bare(item) for item in found] == [PEOPLE[3]]
    assert found[0] == people.read_item("4", "b")
    assert list(query(people, "SELECT VALUE c FROM c WHERE c.id = '4'")) == found
    assert list(query(people, "SELECT * FROM anything WHERE anything.id = '4'")) == found
    assert list(query(people, "SELECT * FROM c x WHERE x.id = '4'")) == found


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("Paris", ["2", "4"]),
        (None, []),
        (5, []),
        (["x"], []),
        ("'; DROP", []),
        ({"a": 1}, []),
    ],
    ids=repr,
)
def test_parameters(people, query, value, expected):
    assert ids(query(people, "SELECT * FROM c WHERE c.city = @city", {"@city": value})) == expected


def test_parameters_everywhere(people, query):
    found = query(
        people,
        "SELECT VALUE {'a': @a, 'id': c.id} FROM c WHERE ARRAY_CONTAINS(@ids, c.id) ORDER BY c.id",
        {"@a": {"b": [1]}, "@ids": ["2", "6"]},
    )
    assert list(found) == [{"a": {"b": [1]}, "id": "2"}, {"a": {"b": [1]}, "id": "6"}]
    found = query(
        people,
        "SELECT VALUE c.id FROM c ORDER BY c.id OFFSET @skip LIMIT @take",
        {"@skip": 1, "@take": 2},
    )
    assert list(found) == ["2", "3"]


def test_the_order_of_types(container, query):
    values = [None, False, True, -1, 0, 1.5, "", "a", "b"]
    for n, value in enumerate(reversed(values)):
        container.create_item({"id": str(n), "pk": "a", "v": value})
    container.create_item({"id": "missing", "pk": "a"})
    assert (
        list(query(container, "SELECT VALUE c.v FROM c WHERE IS_DEFINED(c.v) ORDER BY c.v"))
        == values
    )
    assert (
        list(query(container, "SELECT VALUE c.v FROM c WHERE IS_DEFINED(c.v) ORDER BY c.v DESC"))
        == values[::-1]
    )


def test_several_orders_need_a_composite_index(make, query):
    container = make(
        indexing_policy={
            "indexingMode": "consistent",
            "automatic": True,
            "includedPaths": [{"path": "/*"}],
            "excludedPaths": [],
            "compositeIndexes": [
                [{"path": "/a", "order": "ascending"}, {"path": "/b", "order": "descending"}]
            ],
        }
    )
    for n, (a, b) in enumerate([(1, 1), (2, 1), (1, 2), (2, 2)]):
        container.create_item({"id": str(n), "pk": str(n), "a": a, "b": b})
    assert list(query(container, "SELECT VALUE c.id FROM c ORDER BY c.a, c.b DESC")) == [
        "2",
        "0",
        "3",
        "1",
    ]
    assert list(query(container, "SELECT VALUE c.id FROM c ORDER BY c.a DESC, c.b")) == [
        "1",
        "3",
        "0",
        "2",
    ]
    for wrong in ("c.a, c.b", "c.b, c.a", "c.a, c.b DESC, c.id"):
        with refused(400, text=TEXTS["compositeIndexMissing"]):
            list(query(container, f"SELECT VALUE c.id FROM c ORDER BY {wrong}"))


BAD = {
    "SELECT * FRM c": TEXTS["syntaxError"],
    "SELECT": "Syntax error, unexpected end-of-file.",
    "SELECT * FROM c WHERE": "Syntax error, unexpected end-of-file.",
    "SELECT * FROM c WHERE c.a = 'open": "Syntax error, invalid string literal token",
    "SELECT x.id FROM c": "Identifier 'x' could not be resolved.",
    "SELECT NOSUCH(c.id) FROM c": "'NOSUCH' is not a recognized built-in function name.",
    "SELECT * FROM c WHERE c.a = @missing": "@missing",
}


@pytest.mark.parametrize("text", BAD)
def test_bad_queries_are_refused(people, query, text):
    with refused(400, text=BAD[text]):
        list(query(people, text))


def test_metrics_are_given_when_asked_for(people, query):
    pages = query(people, "SELECT * FROM c", populate_query_metrics=True)
    list(pages)
    metrics = people.client_connection.last_response_headers["x-ms-documentdb-query-metrics"]
    given = dict(part.split("=") for part in metrics.split(";"))
    assert given["outputDocumentCount"] == "6"
    list(query(people, "SELECT * FROM c"))
    assert "x-ms-documentdb-query-metrics" not in people.client_connection.last_response_headers


def test_places(places, query):
    near = {"@at": {"type": "Point", "coordinates": [0, 0]}}
    text = "SELECT VALUE c.id FROM c WHERE ST_DISTANCE(c.at, @at) < 120000"
    assert sorted(query(places, text, near)) == ["corner", "north"]
    text = "SELECT VALUE c.id FROM c WHERE {}(c.at, @square)"
    for function, expected in [
        ("ST_WITHIN", ["middle"]),
        ("ST_INTERSECTS", ["corner", "middle", "north"]),
    ]:
        found = query(places, text.format(function), {"@square": SQUARE})
        assert sorted(found) == expected
    text = "SELECT VALUE ROUND(ST_DISTANCE(c.at, @at)) FROM c WHERE c.id = 'north'"
    assert list(query(places, text, near)) == [110574]
    text = "SELECT VALUE ST_ISVALIDDETAILED(c.at) FROM c WHERE NOT ST_ISVALID(c.at)"
    (found,) = query(places, text)
    assert found == {
        "valid": False,
        "reason": "Latitude values must be between -90 and 90 degrees.",
    }
    (area,) = query(places, "SELECT VALUE ST_AREA(@square)", {"@square": SQUARE})
    assert area > 4e10
