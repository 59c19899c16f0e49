"""Prints random cases of queries read page by page, as JSON, for the tests of every SDK.

SEED seeds them and CASES is their number (default 4; case n of a seed does not depend on it). Each
case is a container with many equal sort keys and some items with a TTL, a query, and a page after
which the clock moves:

  name           the seed, the number of the case and its query
  shape          plain, distinct, top or offset
  items          items by `pk`; n is the item's number, a and b are sort keys of any type or missing
  compositeIndex the paths of a composite index, or null if the query needs none
  query          its rows are unique: numbers of items, or distinct values
  partitionKey   the key that the query is restricted to, or null if it reads all
  pageSize       items per page
  movesAfter     the number of pages before the clock moves by diesAfter seconds
  mortal         the rows that no page after that may have
  limited        whether TOP or OFFSET LIMIT cuts the rows, whose part a row may enter or leave
"""

import json
import os
import random
import sys

DIES_AFTER = 10
MISSING = object()
NO_VALUE = "no value of any item"
# Values of every type in the order of types, so that a page ends within equal values of each.
VALUES = (MISSING, None, False, True, 0, 1, 1.5, -3, "", "a", "ab", "é")
SHAPES = ("plain", "plain", "plain", "distinct", "top", "offset")


def items(rng):
    """Returns items whose sort keys have few values."""
    choices = {path: rng.sample(VALUES, rng.randint(1, 5)) for path in "ab"}
    keys = rng.randint(1, 4)
    made = []
    for n in range(rng.randint(12, 60)):
        item = {"id": f"i{n}", "pk": f"k{rng.randrange(keys)}", "n": n}
        item |= {path: rng.choice(values) for path, values in choices.items()}
        item["ttl"] = DIES_AFTER if rng.random() < 0.3 else -1
        made.append({name: value for name, value in item.items() if value is not MISSING})
    return made


def condition(rng, made):
    """Returns the text of a condition, empty for none, and the items that it keeps."""
    bound = rng.randrange(len(made) // 2)
    value = made[bound].get("a", 0)
    # In Python, 0 equals False.
    same = [item for item in made if json.dumps(item.get("a", NO_VALUE)) == json.dumps(value)]
    return rng.choice(
        (
            ("", made),
            ("", made),
            (f" WHERE c.n >= {bound}", made[bound:]),
            (" WHERE IS_DEFINED(c.b)", [item for item in made if "b" in item]),
            (f" WHERE c.a = {json.dumps(value, ensure_ascii=False)}", same),
        )
    )


def order(rng, shape):
    """Returns the text of ORDER BY, and the composite index that two keys need."""
    down = rng.choice((False, True))
    first = "c.a DESC" if down else rng.choice(("c.a", "c.a ASC"))
    if shape == "distinct" or rng.random() < 0.5:
        return f" ORDER BY {first}", None
    second = rng.choice((False, True))
    # The index has the query's order, or the reverse of both paths.
    turned = rng.choice((False, True))
    index = [
        {"path": path, "order": "descending" if way != turned else "ascending"}
        for path, way in (("/a", down), ("/b", second))
    ]
    return f" ORDER BY {first}, c.b {'DESC' if second else 'ASC'}", index


def case(seed, number):
    """Returns a case."""
    rng = random.Random(f"{seed} {number}")
    shape = rng.choice(SHAPES)
    made = items(rng)
    where, kept = condition(rng, made)
    by, index = order(rng, shape)
    key = rng.choice((None, made[0]["pk"]))
    limit = rng.randint(8, 40)
    select = {
        "distinct": "SELECT DISTINCT VALUE c.a",
        "top": f"SELECT TOP {limit} VALUE c.n",
    }.get(shape, "SELECT VALUE c.n")
    end = f" OFFSET {rng.randint(0, 6)} LIMIT {limit}" if shape == "offset" else ""
    query = f"{select} FROM c{where}{by}{end}"
    column = "a" if shape == "distinct" else "n"
    kept = [item for item in kept if key in (None, item["pk"]) and column in item]
    rows = {json.dumps(item[column]): item[column] for item in kept}
    alive = {json.dumps(item[column]) for item in kept if item["ttl"] == -1}
    return {
        "name": f"SEED={seed}, case {number}: {query}" + (f" in {key}" if key else ""),
        "shape": shape,
        "items": made,
        "compositeIndex": index,
        "query": query,
        "partitionKey": key,
        "pageSize": rng.randint(1, 7),
        "movesAfter": rng.randint(1, 3),
        "diesAfter": DIES_AFTER,
        "mortal": [row for text, row in rows.items() if text not in alive],
        "limited": shape in ("top", "offset"),
    }


def main():
    seed = os.environ.get("SEED") or str(random.randrange(2**32))
    count = int(os.environ.get("CASES") or "4")
    print(f"random pages: SEED={seed} CASES={count}", file=sys.stderr)
    json.dump([case(seed, number) for number in range(count)], sys.stdout)


if __name__ == "__main__":
    main()
