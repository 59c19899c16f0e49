"""A collection on a server and its model, changed together and compared on many paths."""

from lib import pair
from pymongo.errors import DuplicateKeyError

from ghosts.model import Model, Rule


class Pair(pair.Pair):
    """Collection `p`."""

    PAD = "x" * 70_000

    def begin(self):
        self.open()
        self.model = Model(self.server.now_ms())
        self.collection.create_index("k")
        self.collection.create_index("u", unique=True)

    def open(self):
        self.collection = self.server.client["p"]["p"]

    # Documents. `k` and `u` are the id, so that every index can find a document.

    def full(self, id, body):
        # A write that changes nothing does not restart the countdown, so no two are the same.
        self.writes += 1
        return {"_id": id, "k": id, "u": id, "write": self.writes, **self.pad, **body}

    def insert(self, id, body):
        try:
            self.collection.insert_one(self.full(id, body))
            done = True
        except DuplicateKeyError:
            done = False
        assert done == (id not in self.model.live), f"insert of {id}"
        if done:
            self.model.put(id, body)

    def replace(self, id, body, upsert=False):
        result = self.collection.replace_one({"k": id}, self.full(id, body), upsert=upsert)
        assert result.matched_count == (id in self.model.live), f"replace of {id}"
        if upsert or result.matched_count:
            self.model.put(id, body)

    def change(self, id, change):
        """`change` maps fields to values; None removes the field."""
        sets = {name: value for name, value in change.items() if value is not None}
        drops = {name: 1 for name, value in change.items() if value is None}
        update = {"$inc": {"n": 1}}
        update.update({"$set": sets} if sets else {})
        update.update({"$unset": drops} if drops else {})
        result = self.collection.update_one({"_id": id}, update)
        assert result.matched_count == (id in self.model.live), f"update of {id}"
        if result.matched_count:
            body = {**self.model.live[id].body, **change}
            self.model.put(id, {name: value for name, value in body.items() if value is not None})

    def renew_all(self):
        result = self.collection.update_many({}, {"$inc": {"n": 1}})
        assert result.matched_count == len(self.model.live), "update of all"
        for id, life in list(self.model.live.items()):
            self.model.put(id, life.body)

    def delete(self, id):
        result = self.collection.delete_one({"u": id})
        assert result.deleted_count == (id in self.model.live), f"delete of {id}"
        self.model.live.pop(id, None)

    # TTL settings.

    def default(self, value):
        was = self.model.default
        if value == "off":
            if was != "off":
                self.collection.drop_index("_ts_1")
        elif was == "off":
            self.collection.create_index("_ts", expireAfterSeconds=value)
        else:
            self.change_index({"keyPattern": {"_ts": 1}}, value)
        self.model.set_default(value)

    def change_index(self, index, seconds):
        self.collection.database.command(
            "collMod", "p", index={**index, "expireAfterSeconds": seconds}
        )

    def rule(self, name, field=None, seconds=None, partial=False, hidden=False):
        """Creates the index, changes its seconds, or (`field` None) drops it."""
        known = self.model.rules.get(name)
        if field is None:
            if known:
                self.collection.drop_index(name)
            self.model.set_rule(name, None)
            return
        if known:
            self.change_index({"name": name}, seconds)
            rule = Rule(known.field, seconds, known.partial)
        else:
            options = {"partialFilterExpression": {"p": True}} if partial else {}
            options.update({"hidden": True} if hidden else {})
            options.update({} if seconds is None else {"expireAfterSeconds": seconds})
            self.collection.create_index(field, name=name, **options)
            rule = Rule(field, seconds, partial)
        self.model.set_rule(name, rule)

    def end_second(self):
        """Moves the clock to the end of its second. The reaper counts whole seconds: documents that
        end in a second that is not over count as live, and might keep it from reaping."""
        self.move(999 - self.model.now % 1000)

    def reap(self):
        self.server.wait_until_reaped(("p", "p"))

    def check(self):
        live, c = sorted(self.model.live), self.collection
        for how, ids in (
            ("scan", c.find({}, {"_id": 1}).hint([("$natural", 1)])),
            ("index", c.find({"k": {"$gte": ""}}, {"_id": 1}).hint("k_1")),
            ("unique index", c.find({"u": {"$gte": ""}}, {"_id": 1}).hint("u_1")),
        ):
            assert sorted(row["_id"] for row in ids) == live, how
        assert c.estimated_document_count() == len(live), "estimated count"
        assert c.count_documents({}) == len(live), "count"
        expiry = c.database.command("ebbExpiry", "p")
        assert expiry["live"]["documents"] == len(live), "books"
