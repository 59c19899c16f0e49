"""Every field of every body, with a value of every JSON type: a reply or a well-formed refusal, and
a refused request changes nothing."""

import json

import pytest
from lib.wire import Silence

from badinput_nosql.attacked import ITEMS, pk
from badinput_nosql.fields import KEPT, VALUES, fields
from badinput_nosql.wire import A, request

DOCS = "/dbs/data/colls/c/docs"


class FixtureData:
    """The data before each attempt."""

    def __init__(self, attacked):
        self.attacked = attacked
        self.wire = attacked.wire()
        self.offer = attacked.run("GET", "/offers").json["Offers"][0]

    def restore(self, field, reply):
        """Reverts a request that was accepted."""
        attacked, made = self.attacked, reply.json if reply.body else {}
        if (
            field.method == "POST"
            and isinstance(made, dict)
            and isinstance(made.get("id"), str)
            and reply.status == 201
        ):
            attacked.remove(
                f"{field.path}/{made['id']}",
                {"x-ms-documentdb-partitionkey": json.dumps([made.get("pk", {})])},
            )
        elif field.path == "/offers/@":
            attacked.run("PUT", f"/offers/{self.offer['id']}", self.offer)
        elif field.method == "PUT" and field.path.endswith("/c"):
            assert attacked.run("PUT", "/dbs/data/colls/c", KEPT).status == 200
        elif field.body.startswith("batch"):
            attacked.run("DELETE", f"{DOCS}/new", None, A)
        attacked.run("POST", DOCS, ITEMS[0], {**pk(ITEMS[0]), "x-ms-documentdb-is-upsert": "True"})
        attacked.held = attacked.state()


@pytest.fixture(scope="module")
def fixture(attacked):
    return FixtureData(attacked)


def statuses(reply):
    """Returns the status, or those of the operations of a batch."""
    if reply.status in (200, 207) and reply.body.startswith(b"["):
        return {it["statusCode"] for it in reply.json}
    return {reply.status}


def attempt(fixture, field, value):
    """Returns a description of the error in the reply, if any."""
    path = field.path.replace("@", fixture.offer["id"])
    data = request(field.method, path, field.with_value(value), field.headers)
    try:
        reply = fixture.wire.ask(data, 3)
        if reply is None:
            fixture.wire = fixture.attacked.wire()
            return "closed"
        if reply.status >= 400:
            reply.errors()
    except (Silence, AssertionError) as problem:
        fixture.wire = fixture.attacked.wire()
        return str(problem)
    found = statuses(reply)
    refused = {it for it in found if it >= 400}
    try:
        fixture.attacked.unchanged()
    except AssertionError as problem:
        fixture.restore(field, reply)
        if refused:
            return f"refused, and yet {problem}"
    bad = {it for it in refused if it >= 500 and it not in field.statuses}
    if bad:
        return f"answered {bad}: {reply}"
    if field.is_wrong(value) and not refused:
        return "accepted"
    if field.is_wrong(value) and not refused <= field.statuses | {413}:
        return f"answered {refused}, not {field.statuses}"
    return None


@pytest.mark.parametrize("field", fields(), ids=str)
def test_every_type(fixture, field):
    wrong = {}
    for name, value in VALUES.items():
        problem = attempt(fixture, field, value)
        if problem:
            wrong.setdefault(problem[:300], []).append(name)
    if wrong:
        pytest.fail(
            "\n".join(f"{field} {problem}: {', '.join(names)}" for problem, names in wrong.items()),
            pytrace=False,
        )
    fixture.wire.good()
