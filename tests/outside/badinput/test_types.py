"""Every field of every command, with a value of every BSON type: a reply or a well-formed refusal,
and a refused command changes nothing."""

import pytest
from lib.wire import Silence

from badinput.attacked import ok_or_error
from badinput.fields import COMMANDS, fields
from badinput.raw import of_every_type
from badinput.wire import msg

VALUES = of_every_type()
DOCUMENTS = [{"_id": i, "n": i, "a": [i, i + 1], "s": str(i)} for i in range(3)]
#: Commands whose generic fields are tested in the ordinary run; the long one tests all.
GENERIC = ["find", "insert", "update", "aggregate", "ping", "getMore", "killCursors"]
FEW = ("string", "array", "largest long")
NO_VALIDATOR = {"collMod": "c", "validator": {}, "validationLevel": "strict", "$db": "t"}
FAIL_POINT_OFF = {"configureFailPoint": "failCommand", "mode": "off", "$db": "admin"}


class FixtureData:
    """A collection under attack, which refused commands must not change."""

    def __init__(self, attacked):
        self.attacked = attacked
        self.control = attacked.wire()
        self.wire = attacked.wire()
        self.reset()

    def reset(self):
        """Restores the initial state; keeps the collection, whose creation is slow."""
        names = {it["name"] for it in self.rows(("listCollections", 1))}
        for name in names - {"c"}:
            self.control.run(("drop", name), db="t")
        self.control.run(("delete", "c"), db="t", deletes=[{"q": {}, "limit": 0}])
        self.control.run(("insert", "c"), db="t", documents=DOCUMENTS)
        indexes = self.rows(("listIndexes", "c"))
        if [it["name"] for it in indexes] != ["_id_", "n_1"]:
            self.control.run(("dropIndexes", "c"), db="t", index="*")
            index = [{"key": {"n": 1}, "name": "n_1"}]
            self.control.run(("createIndexes", "c"), db="t", indexes=index)
        self.held = self.state()

    def rows(self, command):
        return self.control.run(command, db="t")["cursor"]["firstBatch"]

    def state(self):
        return self.attacked.state(self.control, "t", "c")

    def changed(self):
        return self.state() != self.held


@pytest.fixture(scope="module")
def fixture(attacked):
    return FixtureData(attacked)


def attempt(fixture, field, type_name, value):
    """Returns a description of the error in the reply, if any."""
    try:
        reply = fixture.wire.ask(msg(field.body(value)))
    except Silence as silence:
        fixture.wire = fixture.attacked.wire()
        return str(silence)
    if field.command == "configureFailPoint":
        fixture.control.ask(msg(FAIL_POINT_OFF))
    if field.command == "collMod":
        fixture.control.ask(msg(NO_VALIDATOR))
    if reply is None:
        fixture.wire = fixture.attacked.wire()
        return "closed"
    try:
        code = ok_or_error(reply)
    except AssertionError as problem:
        return str(problem)
    codes = {code, *(error["code"] for error in reply.get("writeErrors", []))}
    codes |= {row.get("code", 0) for row in bulk_results(field, reply)}
    codes.discard(0)
    changed = fixture.changed()
    if changed:
        fixture.reset()
    if changed and (code or (codes and not reply.get("n") and field.command != "bulkWrite")):
        return f"refused by {codes}, and yet something changed"
    if field.is_wrong(type_name) and not codes:
        return "accepted"
    if field.is_wrong(type_name) and not codes & set(field.codes):
        return f"code {codes}, not {field.codes}"
    return None


def bulk_results(field, reply):
    return reply["cursor"]["firstBatch"] if field.command == "bulkWrite" and reply["ok"] else []


def attempts(fixture, field, types):
    """Returns each kind of wrong reply with the types that got it."""
    wrong = {}
    for name in types:
        problem = attempt(fixture, field, name, VALUES[name])
        if problem:
            wrong.setdefault(f"{field} {problem}", []).append(name)
    return [f"{problem}: {', '.join(names)}" for problem, names in wrong.items()]


def fail_on(wrong):
    if wrong:
        pytest.fail("\n".join(wrong), pytrace=False)


def every_type(fixture, field):
    fail_on(attempts(fixture, field, FEW if field.kind == "few" else VALUES))
    assert fixture.wire.run(("ping", 1))["ok"] == 1


def test_the_table_has_every_command(attacked, wire):
    known = set(wire.run(("listCommands", 1), db="admin")["commands"])
    assert known == set(COMMANDS)


@pytest.mark.parametrize("field", fields(), ids=str)
def test_own_fields(fixture, field):
    every_type(fixture, field)


@pytest.mark.parametrize("field", fields(GENERIC, generic=True), ids=str)
def test_generic_fields(fixture, field):
    every_type(fixture, field)


def test_generic_fields_of_all_commands(fixture, torture):
    """Three types per field in the ordinary run, all of them in the long one."""
    types = VALUES if torture else FEW
    fail_on([it for field in fields(generic=True) for it in attempts(fixture, field, types)])
