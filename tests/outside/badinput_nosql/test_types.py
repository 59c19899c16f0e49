"""Every field of every body, with a value of every JSON type: an answer or a well-formed refusal,
and a refused request changes nothing."""

import json

import pytest
from lib.wire import Silence

from badinput_nosql.fields import KEPT, VALUES, fields
from badinput_nosql.house import ITEMS, pk
from badinput_nosql.wire import A, request

DOCS = "/dbs/room/colls/c/docs"


class Room:
    """What is there before each attempt."""

    def __init__(self, house):
        self.house = house
        self.wire = house.wire()
        self.offer = house.run("GET", "/offers").json["Offers"][0]

    def restore(self, field, reply):
        """Takes back what was accepted."""
        house, made = self.house, reply.json if reply.body else {}
        if (
            field.method == "POST"
            and isinstance(made, dict)
            and isinstance(made.get("id"), str)
            and reply.status == 201
        ):
            house.remove(
                f"{field.path}/{made['id']}",
                {"x-ms-documentdb-partitionkey": json.dumps([made.get("pk", {})])},
            )
        elif field.path == "/offers/@":
            house.run("PUT", f"/offers/{self.offer['id']}", self.offer)
        elif field.method == "PUT" and field.path.endswith("/c"):
            assert house.run("PUT", "/dbs/room/colls/c", KEPT).status == 200
        elif field.body.startswith("batch"):
            house.run("DELETE", f"{DOCS}/new", None, A)
        house.run("POST", DOCS, ITEMS[0], {**pk(ITEMS[0]), "x-ms-documentdb-is-upsert": "True"})
        house.held = house.state()


@pytest.fixture(scope="module")
def room(house):
    return Room(house)


def statuses(reply):
    """The status, or those of the operations of a batch."""
    if reply.status in (200, 207) and reply.body.startswith(b"["):
        return {it["statusCode"] for it in reply.json}
    return {reply.status}


def attempt(room, field, value):
    """Answers what is wrong with the answer, if anything."""
    path = field.path.replace("@", room.offer["id"])
    data = request(field.method, path, field.with_value(value), field.headers)
    try:
        reply = room.wire.ask(data, 3)
        if reply is None:
            room.wire = room.house.wire()
            return "closed"
        if reply.status >= 400:
            reply.errors()
    except (Silence, AssertionError) as problem:
        room.wire = room.house.wire()
        return str(problem)
    found = statuses(reply)
    refused = {it for it in found if it >= 400}
    try:
        room.house.unchanged()
    except AssertionError as problem:
        room.restore(field, reply)
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
def test_every_type(room, field):
    wrong = {}
    for name, value in VALUES.items():
        problem = attempt(room, field, value)
        if problem:
            wrong.setdefault(problem[:300], []).append(name)
    if wrong:
        pytest.fail(
            "\n".join(f"{field} {problem}: {', '.join(names)}" for problem, names in wrong.items()),
            pytrace=False,
        )
    room.wire.good()
