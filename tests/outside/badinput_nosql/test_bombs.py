"""Small queries that need much work or memory: patterns, products, texts and sorts without limit.
They end in time, with a result or an error, in bounded memory, and other clients are served at the
same time."""

import os
import pathlib
import threading
import time

import pytest
from lib.wire import WITHIN

from badinput_nosql.attacked import ONE
from badinput_nosql.wire import PARTITION_KEY, A, query, request

#: Limits in seconds: of the time of a reply, and of the processor time for it, of which a page may
#: take five.
LONGEST = 20.0 * WITHIN
MOST_WORK = 6.0
DOCS = "/dbs/data/colls/bombs/docs"
KEY = {PARTITION_KEY: '["x"]'}
LONG = 1_000_000


@pytest.fixture(scope="module", autouse=True)
def bombs(attacked):
    """Items with long texts and large arrays, and many of them."""
    bare = {"includedPaths": [], "excludedPaths": [{"path": "/*"}]}
    attacked.make("/dbs/data/colls", {"id": "bombs", "partitionKey": ONE, "indexingPolicy": bare})
    for i, body in enumerate(
        [
            {"s": "a" * LONG},
            {"s": "a" * LONG + "b"},
            {"s": "ab" * (LONG // 2)},
            {"list": list(range(100_000))},
            {"list": [{"k": i, "v": "v" * 50} for i in range(10_000)]},
            {"list": ["x" * 1000] * 1000},
            {"s": "😀" * (LONG // 16)},
        ]
    ):
        attacked.make(DOCS, {"id": str(i), "pk": "x", **body}, KEY)
    for i in range(200):
        attacked.make(DOCS, {"id": f"row{i}", "pk": "x", "n": i, "list": list(range(20))}, KEY)
    attacked.keep()
    attacked.held = attacked.state()


PATTERNS = {
    "(a+)+$": "REGEXMATCH(c.s, '(a+)+$')",
    "(a+)+b": "REGEXMATCH(c.s, '^(a+)+c$')",
    "(a|a)*": "REGEXMATCH(c.s, '^(a|a)*c$')",
    "(a|aa)+": "REGEXMATCH(c.s, '^(a|aa)+$c')",
    "(.*)*": "REGEXMATCH(c.s, '(.*)*(.*)*(.*)*c')",
    "nested": "REGEXMATCH(c.s, '((a*)*)*c')",
    "counted": "REGEXMATCH(c.s, '(a{1,1000}){1,1000}c')",
    "counted thrice": "REGEXMATCH(c.s, '((a{1000}){1000}){1000}')",
    "counted class": "REGEXMATCH(c.s, '\\\\w{100000}')",
    "unicode class": "REGEXMATCH(c.s, '(\\\\p{L}{1,500}){1,500}c')",
    "back": "REGEXMATCH(c.s, '(a+)\\\\1+c')",
    "ahead": "REGEXMATCH(c.s, '(?=(a+))a*b\\\\1')",
    "open": "REGEXMATCH(c.s, '(')",
    "class": "REGEXMATCH(c.s, '[')",
    "repeat": "REGEXMATCH(c.s, '*')",
    "deep": "REGEXMATCH(c.s, '" + "(" * 5000 + ")" * 5000 + "')",
    "alternatives": "REGEXMATCH(c.s, '" + "|".join(["a" * 20] * 5000) + "c')",
    "flags": "REGEXMATCH(c.s, 'a', 'zzz')",
    "from the item": "REGEXMATCH('a', c.s)",
    "LIKE of many": "c.s LIKE '" + "%a" * 50 + "%c'",
    "LIKE of thousands": "c.s LIKE '" + "%a" * 5000 + "c'",
    "LIKE of ones": "c.s LIKE '" + "_%" * 3000 + "c'",
    "LIKE of percents": "c.s LIKE '" + "%" * 100_000 + "c'",
    "LIKE of a class": "c.s LIKE '%[a-z]%[^b]%c'",
    "LIKE of an open class": "c.s LIKE '%[a'",
    "LIKE of open sets": "'a' LIKE REPLACE(c.s, 'a', '[')",
    "LIKE of a large set": "c.s LIKE '%[" + "".join(map(chr, range(0x4E00, 0x9E00))) + "]%'",
    "LIKE of the item": "'a' LIKE c.s",
    "LIKE with ESCAPE": "c.s LIKE '%!%%' ESCAPE '!'",
    "CONTAINS": "CONTAINS(c.s, '" + "a" * 50_000 + "c')",
    "CONTAINS of any case": "CONTAINS(c.s, '" + "A" * 50_000 + "c', true)",
    "INDEX_OF": "INDEX_OF(c.s, '" + "a" * 50_000 + "c') > 0",
}


@pytest.mark.parametrize("what", PATTERNS)
def test_patterns(attacked, what):
    """A million characters are scanned once. Processor time is measured because a busy machine may
    take long for little."""
    before = processor_seconds(attacked)
    with attacked.undisturbed():
        attacked.survived(
            query(f"SELECT c.id FROM c WHERE {PATTERNS[what]}", path=DOCS),
            200,
            400,
            408,
            within=LONGEST,
        )
    assert processor_seconds(attacked) - before < MOST_WORK


def nested(function, levels, inner):
    return function * levels + inner


TEXTS = {
    "REPLICATE of a lot": "REPLICATE('x', 1000000000)",
    "REPLICATE of more than there is": "REPLICATE('x', 9007199254740991)",
    "REPLICATE of a long text": "REPLICATE(c.s, 10000)",
    "REPLICATE below zero": "REPLICATE('x', -1)",
    "REPLICATE of REPLICATE": "REPLICATE(REPLICATE(REPLICATE(REPLICATE('x', 10000), 10000), 10000), 10000)",
    "REPLICATE of nothing": "REPLICATE('', 1e15)",
    "CONCAT": "CONCAT(" + ",".join(["c.s"] * 1000) + ")",
    "concatenation": "||".join(["c.s"] * 1000),
    "doubled": "REPLACE(c.s, 'a', 'aa')",
    "doubled ten times": "REPLACE(" * 10 + "c.s" + ", 'a', 'aa')" * 10,
    "doubled thirty times": "REPLACE(" * 30 + "'a'" + ", 'a', 'aa')" * 30,
    "REPLACE of one": "REPLACE(c.s, 'a', '" + "x" * 10_000 + "')",
    "arrays": "ARRAY_CONCAT(" + ",".join(["c.list"] * 300) + ")",
    "arrays doubled": "ARRAY_CONCAT(" * 3 + "c.list, c.list" + "), c.list, c.list)" * 1,
    "unions": "SETUNION(c.list, c.list)",
    "split": "STRINGSPLIT(c.s, '')",
    "split at a": "STRINGSPLIT(c.s, 'a')",
    "array of texts": "STRINGTOARRAY(CONCAT('[', REPLICATE('1,', 5000), '1]'))",
    "deep array": "STRINGTOARRAY(CONCAT(REPLICATE('[', 5000), REPLICATE(']', 5000)))",
    "deep object": "STRINGTOOBJECT(REPLICATE('{\"a\":', 5000))",
    "joined": "STRINGJOIN(c.list, c.s)",
    "reversed": "REVERSE(c.s)",
    "TOSTRING": "TOSTRING(TOSTRING(TOSTRING(TOSTRING(c))))",
    "CONTAINS_ALL": "ARRAY_CONTAINS_ALL(c.list, c.list)",
    "intersection": "SETINTERSECT(c.list, c.list)",
    "objects": "OBJECTTOARRAY(c)",
    "array of array": "ARRAY(SELECT VALUE [x, c.list] FROM x IN c.list)",
    "large shifts": "INTBITLEFTSHIFT(1, 1000000000)",
    "powers": "POWER(POWER(1e300, 1e300), 1e300)",
    "divisions": "INTDIV(1, 0)",
    "modulo": "1 % 0",
    "least": "INTDIV(-9223372036854775808, -1)",
    "overflow": "INTMUL(9223372036854775807, 9223372036854775807)",
    "LEFT": "LEFT(c.s, 9007199254740993)",
    "SUBSTRING": "SUBSTRING(c.s, -9007199254740993, 9007199254740993)",
    "ARRAY_SLICE": "ARRAY_SLICE(c.list, -9007199254740993, 9007199254740993)",
    "SUBSTRING of pairs": "SUBSTRING(c.s, 1, 1)",
    "ROUND": "ROUND(1.5, 400)",
    "dates": "DATETIMEADD('yyyy', 9007199254740993, '2020-01-01T00:00:00.0000000Z')",
    "date parts": "DATETIMEFROMPARTS(9999999, 99, 99)",
    "ticks": "TICKSTODATETIME(9223372036854775807)",
    "bins": "DATETIMEBIN('2020-01-01T00:00:00Z', 'ns', 9007199254740993)",
    "NUMBERBIN": "NUMBERBIN(1, 0)",
    "CHOOSE": "CHOOSE(9007199254740993, 1)",
    "deep equals": "c = c",
    "long compare": "c.s = CONCAT(c.s, '')",
}


@pytest.mark.parametrize("what", TEXTS)
def test_values_without_measure(attacked, what):
    before = attacked.server.rss()
    with attacked.undisturbed():
        attacked.survived(
            query(f"SELECT VALUE {TEXTS[what]} FROM c", path=DOCS),
            200,
            400,
            408,
            413,
            within=LONGEST,
        )
    assert attacked.server.rss() - before < 400 << 20


def crossed(count, projection="1", source="c.list", where=""):
    joins = " ".join(f"JOIN x{i} IN {source}" for i in range(count))
    return f"SELECT VALUE {projection} FROM c {joins} {where}"


PRODUCTS = {
    "three of 100,000": crossed(3, "COUNT(1)"),
    "three of 100,000 that find nothing": crossed(3, where="WHERE x0 + x1 + x2 < 0"),
    "ten of 20": crossed(10, "COUNT(1)", where="WHERE c.n = 1"),
    "ten of 20 as rows": crossed(10, "[x0, x1, x2, x3, x4]", where="WHERE c.n = 1"),
    "three as rows": crossed(3, "[x0, x1, x2]"),
    "distinct": "SELECT DISTINCT VALUE [x, y] FROM c JOIN x IN c.list JOIN y IN c.list",
    "groups": "SELECT x, y, COUNT(1) AS n FROM c JOIN x IN c.list JOIN y IN c.list GROUP BY x, y",
    "sorted": "SELECT VALUE x FROM c JOIN x IN c.list JOIN y IN c.list ORDER BY c.n",
    "offset": crossed(3, where="OFFSET 1000000000 LIMIT 1"),
    "subquery": "SELECT VALUE (SELECT VALUE COUNT(1) FROM x IN c.list JOIN y IN c.list JOIN z IN c.list) FROM c",
    "ARRAY": "SELECT VALUE ARRAY(SELECT VALUE [x, y] FROM x IN c.list JOIN y IN c.list) FROM c",
    "EXISTS": "SELECT * FROM c WHERE EXISTS(SELECT 1 FROM x IN c.list JOIN y IN c.list JOIN z IN c.list WHERE x = -1)",
    "EXISTS in EXISTS": "SELECT * FROM c WHERE EXISTS(SELECT 1 FROM x IN c.list WHERE EXISTS(SELECT 1 FROM y IN c.list WHERE EXISTS(SELECT 1 FROM z IN c.list WHERE z = -1)))",
    "nothing at all": "SELECT VALUE COUNT(1) FROM x IN (SELECT VALUE c.list FROM c) JOIN y IN x",
    "MAKELIST": "SELECT VALUE ARRAY_CONCAT(c.list, ARRAY(SELECT VALUE CONCAT(TOSTRING(x), TOSTRING(c.list)) FROM x IN c.list)) FROM c",
    "contains of contains": "SELECT VALUE COUNT(1) FROM c JOIN x IN c.list WHERE ARRAY_CONTAINS(c.list, x)",
    "sum of texts": "SELECT VALUE SUM(LENGTH(TOSTRING(c.list))) FROM c JOIN x IN c.list",
}


#: Steps of a path that follow one another: they are not nested in the query's text.
STEPS = {"names": ".a", "elements": "[0]", "both": "[0].a", "texts": "['a']", "sums": "[1+0]"}


@pytest.mark.parametrize("base", ["c", "c.list", "[c]", "ABS(c)", "(SELECT VALUE c)", '{"a": c}'])
@pytest.mark.parametrize("what", STEPS)
def test_paths_of_any_length(attacked, base, what):
    steps = STEPS[what] * (400_000 // len(STEPS[what]))
    with attacked.undisturbed():
        text = f"SELECT VALUE {base}{steps} FROM c WHERE c.id = '3'"
        attacked.survived(query(text, path=DOCS), 200, 400, 408, within=LONGEST)


#: Queries of the ordinary run.
FEW = ["three of 100,000 that find nothing", "ten of 20 as rows", "distinct", "ARRAY"]


def processor_seconds(attacked):
    fields = (
        pathlib.Path(f"/proc/{attacked.server.process.pid}/stat")
        .read_text()
        .rsplit(")", 1)[1]
        .split()
    )
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_products_without_measure(attacked, torture):
    """All queries run concurrently: each ends with a result or an error, and others are served."""
    before, problems, chosen = attacked.server.rss(), [], PRODUCTS if torture else FEW
    began, longest = processor_seconds(attacked), LONGEST * (3 if torture else 1)

    def ask(what):
        try:
            with attacked.wire() as wire:
                reply = wire.ask(query(PRODUCTS[what], path=DOCS), within=longest)
                assert reply is not None, "closed instead of an answer"
                assert reply.status in (200, 400, 408, 413, 429, 501, 503), reply
        except (AssertionError, OSError) as problem:
            problems.append(f"{what}: {problem}")

    threads = [threading.Thread(target=ask, args=(what,)) for what in chosen]
    with attacked.undisturbed(longest=3.0 * WITHIN):
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(longest + 5)
    grown, spent = attacked.server.rss() - before, processor_seconds(attacked) - began
    assert not problems, "; ".join(problems)
    assert grown < 500 << 20, f"{grown >> 20} MiB"
    assert spent < MOST_WORK * len(chosen), f"{spent:.1f} s of processors for {len(chosen)} queries"


def test_conditions_without_measure(attacked):
    """Evaluating the condition of a patch does not delay other writers."""
    condition = (
        "from c where EXISTS(SELECT 1 FROM x IN c.list JOIN y IN c.list JOIN z IN c.list "
        "WHERE x + y + z < 0)"
    )
    body = {"condition": condition, "operations": [{"op": "set", "path": "/lost", "value": 1}]}
    over, waits = threading.Event(), []

    def write():
        with attacked.wire() as wire:
            while not over.wait(0.02):
                began = time.monotonic()
                reply = wire.ask(
                    request("POST", "/dbs/data/colls/c/docs", {"id": "1", "pk": "a"}, A), 30
                )
                waits.append(time.monotonic() - began if reply.status == 409 else 99)

    began, writer = processor_seconds(attacked), threading.Thread(target=write, daemon=True)
    writer.start()
    with attacked.undisturbed():
        attacked.survived(request("PATCH", f"{DOCS}/3", body, KEY), 400, 408, 412, within=LONGEST)
    over.set()
    writer.join(40)
    assert waits and max(waits) < WITHIN, f"another writer waited for {max(waits):.2f} s"
    assert processor_seconds(attacked) - began < 1.5 * MOST_WORK


@pytest.mark.parametrize(
    "text",
    [
        "SELECT c.id FROM c ORDER BY c.s",
        "SELECT DISTINCT c.s FROM c",
        "SELECT c.s FROM c GROUP BY c.s",
    ],
)
def test_continuations_of_long_values(attacked, text):
    """A page that ends at a text of a million characters has a token that fits a header."""
    headers, pages = {**KEY, "x-ms-max-item-count": "1"}, 0
    while pages < 5:
        reply = attacked.accepted(query(text, path=DOCS, headers=headers), 200, within=5)
        token = reply.headers.get("x-ms-continuation")
        if token is None:
            return
        assert len(token) < 8192, f"a continuation of {len(token)} characters"
        headers["x-ms-continuation"], pages = token, pages + 1


def test_who_leaves_is_not_worked_for(attacked):
    """A query whose client has disconnected is cancelled soon and frees its processors."""
    for what in ("three of 100,000 that find nothing", "EXISTS", "groups"):
        wire = attacked.wire()
        wire.send(query(PRODUCTS[what], path=DOCS))
        time.sleep(0.05)
        wire.close()
    time.sleep(0.5 * WITHIN)
    before = processor_seconds(attacked)
    time.sleep(0.5)
    spent = processor_seconds(attacked) - before
    assert spent < 0.1, f"{spent:.2f} s of processors within half a second after all have left"
