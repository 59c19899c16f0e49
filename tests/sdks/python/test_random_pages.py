"""Random cases of queries whose pages are each read by a new iterator; see ../pages.py.

`by_page(token)` resumes each of them, over all partitions and in one.
"""

import json
import os
import pathlib

import pytest
from azure.cosmos import PartitionKey
from conftest import numbers

CASES = json.loads(pathlib.Path(os.environ["EBB_PAGES"]).read_text())


def texts(rows):
    """Returns rows as JSON, since 1 and true are equal in Python."""
    return [json.dumps(row) for row in rows]


@pytest.fixture
def filled(db):
    """Returns a function that creates a case's container with its items."""
    made = []

    def fill(case):
        policy = {"includedPaths": [{"path": "/*"}]}
        if case["compositeIndex"]:
            policy["compositeIndexes"] = [case["compositeIndex"]]
        name = f"pages{next(numbers)}"
        key = PartitionKey("/pk")
        container = db.create_container(name, key, default_ttl=-1, indexing_policy=policy)
        made.append(name)
        for item in case["items"]:
            container.create_item(item)
        return container

    yield fill
    for name in made:
        db.delete_container(name)


@pytest.mark.parametrize("case", CASES, ids=range(len(CASES)))
def test_random_pages(filled, query, clock, case):
    container = filled(case)
    within = {"partition_key": case["partitionKey"]} if case["partitionKey"] else {}

    def whole():
        return texts(query(container, case["query"], **within))

    def pages(moves_after=0):
        token, found = None, []
        while token or not found:
            size = case["pageSize"]
            page = query(container, case["query"], max_item_count=size, **within).by_page(token)
            rows = next(page, None)
            if rows is None:
                # All that was left after the token has expired.
                return found
            found.append(texts(rows))
            assert len(found[-1]) <= size, case["name"]
            token = page.continuation_token
            if len(found) == moves_after:
                clock.advance(case["diesAfter"])
        return found

    assert [row for page in pages() for row in page] == whole(), case["name"]
    found = pages(case["movesAfter"])
    if len(found) < case["movesAfter"]:
        clock.advance(case["diesAfter"])
    later = [row for page in found[case["movesAfter"] :] for row in page]
    seen, live = [row for page in found for row in page], whole()
    assert len(set(seen)) == len(seen), f"a row twice: {case['name']}: {found}"
    dead = set(texts(case["mortal"]))
    assert not dead & {*later, *live}, f"an expired row: {case['name']}: {found}"
    if not case["limited"]:
        alive = [row for row in seen if row not in dead]
        assert alive == live, f"a row lost: {case['name']}: {found}"
