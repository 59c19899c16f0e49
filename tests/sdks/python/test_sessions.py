"""Session tokens: returned with every reply, and checked."""

from conftest import TEXTS, refused


def token_of(made):
    return made.get_response_headers()["x-ms-session-token"]


def test_tokens_grow(container):
    first = token_of(container.create_item({"id": "1", "pk": "a"}))
    second = token_of(container.create_item({"id": "2", "pk": "a"}))

    def number(token):
        return int(token.rpartition("#")[2] or token.rpartition(":")[2])

    assert number(second) > number(first)


def test_a_token_of_the_past_reads_on(container, query):
    token = token_of(container.create_item({"id": "1", "pk": "a"}))
    container.create_item({"id": "2", "pk": "a"})
    assert container.read_item("2", "a", session_token=token)["id"] == "2"
    assert len(list(query(container, "SELECT * FROM c", session_token=token))) == 2


def test_a_token_of_the_future_is_1002(container):
    made = container.create_item({"id": "1", "pk": "a"})
    head, mark, _ = token_of(made).rpartition("#")
    future = f"{head}{mark}999999999999" if mark else "0:999999999999"
    with refused(404, 1002, TEXTS["sessionNotAvailable"]):
        container.read_item("1", "a", session_token=future)
    assert container.read_item("1", "a")["id"] == "1"


def test_a_token_goes_from_client_to_client(container, connect):
    token = token_of(container.create_item({"id": "1", "pk": "a"}))
    database_id = container.container_link.split("/")[1]
    other = connect().get_database_client(database_id).get_container_client(container.id)
    assert other.read_item("1", "a", session_token=token)["id"] == "1"


def test_the_latest_token_of_a_range(container):
    first = token_of(container.create_item({"id": "1", "pk": "a"}))
    second = token_of(container.create_item({"id": "2", "pk": "a"}))
    whole = next(iter(container.read_feed_ranges()))
    latest = container.get_latest_session_token([(whole, first), (whole, second)], whole)
    assert latest == second
