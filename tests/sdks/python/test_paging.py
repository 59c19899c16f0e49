"""Pages: their size, and continuation tokens that another client continues."""

import pytest
from conftest import EXPECTED, refused

QUERIES = {
    "plain": "SELECT VALUE c.n FROM c",
    "filter": "SELECT VALUE c.n FROM c WHERE c.n >= 0",
    "order": "SELECT VALUE c.n FROM c ORDER BY c.n",
    "descending": "SELECT VALUE c.n FROM c ORDER BY c.n DESC",
    "by a value that many have": "SELECT VALUE c.n FROM c ORDER BY c.same",
    "offset": "SELECT VALUE c.n FROM c ORDER BY c.n OFFSET 0 LIMIT 50",
    "top": "SELECT TOP 50 VALUE c.n FROM c ORDER BY c.n",
    "join": "SELECT VALUE c.n FROM c JOIN t IN c.tags",
    "distinct": "SELECT DISTINCT VALUE c.n FROM c",
}


@pytest.fixture(scope="module")
def many(db):
    from azure.cosmos import PartitionKey

    container = db.create_container("many", PartitionKey("/pk"))
    for n in range(25):
        container.create_item(
            {"id": str(n), "pk": str(n % 3), "n": n, "same": n % 2, "tags": ["x"]}
        )
    return container


def first_page(pages):
    return list(next(pages))


@pytest.mark.parametrize("name", QUERIES)
def test_pages_hold_what_was_asked_for(many, query, name):
    pages = [list(page) for page in query(many, QUERIES[name], max_item_count=10).by_page()]
    assert all(len(page) <= 10 for page in pages)
    assert len(pages[0]) == 10
    found = [n for page in pages for n in page]
    assert sorted(found) == list(range(25)), "each once"
    if name in ("order", "offset", "top"):
        assert found == list(range(25))
    if name == "descending":
        assert found == list(range(24, -1, -1))


@pytest.mark.parametrize("name", QUERIES)
def test_another_client_takes_the_token_up(many, query, connect, name):
    client = connect()
    database_id = many.container_link.split("/")[1]
    other = client.get_database_client(database_id).get_container_client(many.id)
    found, token = [], None
    for container in (many, other) * 3:
        pages = query(container, QUERIES[name], max_item_count=6).by_page(token)
        found += first_page(pages)
        token = pages.continuation_token
        if token is None:
            break
    assert sorted(found) == list(range(25))
    assert token is None


def test_one_partition_in_pages(many, query):
    pages = query(
        many, "SELECT VALUE c.n FROM c ORDER BY c.n", partition_key="1", max_item_count=3
    ).by_page()
    assert [list(page) for page in pages if page] == [[1, 4, 7], [10, 13, 16], [19, 22]]


def test_items_written_between_pages(container, query):
    for n in range(4):
        container.create_item({"id": str(n), "pk": "a", "n": n})
    pages = query(container, "SELECT VALUE c.n FROM c ORDER BY c.n", max_item_count=2).by_page()
    assert first_page(pages) == [0, 1]
    container.create_item({"id": "between", "pk": "a", "n": 0.5})
    container.delete_item("2", "a")
    assert [n for page in pages for n in page] == [3]


def test_items_that_die_between_pages(make, query, clock):
    container = make(default_ttl=10)
    for n in range(4):
        container.create_item({"id": str(n), "pk": "a", "n": n, "ttl": [10, 10, 10, -1][n]})
    pages = query(container, "SELECT VALUE c.n FROM c ORDER BY c.n", max_item_count=2).by_page()
    assert first_page(pages) == [0, 1]
    clock.advance(10)
    assert [n for page in pages for n in page] == [3]


TIED = EXPECTED["tiedPages"]


def tied_item(n):
    ttl = TIED["diesAfter"] if n % 5 == 4 else -1
    return {"id": str(n), "pk": f"k{n % 7}", "n": n, "same": n % 3, "odd": n % 2, "ttl": ttl}


@pytest.fixture(scope="module")
def tied(db):
    from azure.cosmos import PartitionKey

    policy = {"includedPaths": [{"path": "/*"}], "compositeIndexes": [TIED["compositeIndex"]]}
    return db.create_container("tied", PartitionKey("/pk"), default_ttl=-1, indexing_policy=policy)


@pytest.mark.parametrize("text", TIED["queries"])
def test_ties_are_split_over_pages(tied, query, clock, text):
    for n in range(TIED["items"]):
        tied.upsert_item(tied_item(n))

    def pages(between=lambda count: None):
        token, found = None, []
        while token or not found:
            page = query(tied, text, max_item_count=TIED["pageSize"]).by_page(token)
            found.append(first_page(page))
            token = page.continuation_token
            between(len(found))
        return found

    def expire(count):
        if count == 2:
            clock.advance(TIED["diesAfter"])

    assert [n for page in pages() for n in page] == list(query(tied, text))
    first, second, *rest = pages(expire)
    live = list(query(tied, text))
    found = [n for page in (first, second, *rest) for n in page]
    assert len(set(found)) == len(found), "none twice"
    assert [n for n in found if n % 5 != 4] == live, "none lost"
    assert all(n % 5 != 4 for page in rest for n in page), "none that has expired"


def test_a_read_feed_goes_on_elsewhere(many):
    pages = many.read_all_items(max_item_count=20).by_page()
    found = [item["n"] for item in next(pages)]
    again = many.read_all_items(max_item_count=20).by_page(pages.continuation_token)
    found += [item["n"] for page in again for item in page]
    assert sorted(found) == list(range(25))


@pytest.mark.parametrize("token", ["damaged", "e30=", "0", "x" * 3000])
def test_damaged_tokens_are_refused(many, query, token):
    with refused(400):
        list(next(query(many, "SELECT * FROM c", max_item_count=5).by_page(token)))


def test_a_token_of_another_query_is_refused(many, query):
    pages = query(many, "SELECT * FROM c", max_item_count=5).by_page()
    first_page(pages)
    with refused(400):
        first_page(
            query(many, "SELECT * FROM c WHERE c.n > 3", max_item_count=5).by_page(
                pages.continuation_token
            )
        )
