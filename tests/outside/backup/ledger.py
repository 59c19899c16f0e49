"""A client that makes one change after the other in its own database and records the state after
each: a backup must contain one of these states."""

import threading

#: Number of kinds of steps, which repeat in turn.
KINDS = 6


class Ledger:
    """The steps of one client in one database, from a thread of its own."""

    def __init__(self, server, name):
        self.server, self.name = server, name
        #: States by step: collections, each with its ids and its TTL.
        self.states = [{}]
        #: Number of started steps, and of acknowledged ones.
        self.begun = self.done = 0
        self.stopping = threading.Event()
        self.thread = threading.Thread(target=self.work)
        self.failure = None

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stopping.set()
        self.thread.join(30)
        assert not self.thread.is_alive(), "a client hangs"
        assert self.failure is None, self.failure

    def work(self):
        with self.server.connect() as client:
            try:
                while not self.stopping.is_set():
                    self.step(client[self.name])
            except Exception as error:
                self.failure = repr(error)

    def step(self, database):
        """Performs one step, which changes one collection."""
        step = self.begun
        about, kind = f"c{step // KINDS}", step % KINDS
        state = {name: (ids, ttl) for name, (ids, ttl) in self.states[-1].items()}
        ids, ttl = state.get(about, ((), None))
        change = None
        if kind == 0:
            state[about] = ((), None)
            change = lambda: database.create_collection(about)  # noqa: E731
        elif kind in (1, 4):
            state[about] = ((*ids, step), ttl)
            change = lambda: database[about].insert_one({"_id": step, "pad": "x" * 900})  # noqa: E731
        elif kind == 2:
            state[about] = (ids, 100_000 + step)
            change = lambda: database[about].create_index(  # noqa: E731
                "_ts", expireAfterSeconds=100_000 + step
            )
        elif kind == 3:
            state[about] = (ids, 200_000 + step)
            change = lambda: database.command(  # noqa: E731
                {
                    "collMod": about,
                    "index": {"keyPattern": {"_ts": 1}, "expireAfterSeconds": 200_000 + step},
                }
            )
        elif step % (2 * KINDS) == kind:
            state[f"r{step}"] = state.pop(about)
            change = lambda: database[about].rename(f"r{step}")  # noqa: E731
        else:
            del state[about]
            change = database[about].drop
        self.states.append(state)
        self.begun += 1
        change()
        self.done += 1

    def found(self, client):
        """Returns the state that a server shows."""
        database = client[self.name]
        held = {}
        for name in database.list_collection_names():
            collection = database[name]
            ids = tuple(sorted(row["_id"] for row in collection.find()))
            assert collection.estimated_document_count() == len(ids), name
            rule = collection.index_information().get("_ts_1", {})
            held[name] = (ids, rule.get("expireAfterSeconds"))
        return held

    def step_of(self, client, least, most):
        """Returns the step, between these bounds, whose state a server shows."""
        found = self.found(client)
        steps = [at for at in range(least, most + 1) if self.states[at] == found]
        assert steps, (
            f"{self.name}: no state between {least} and {most} is {found}; "
            f"the first of them is {self.states[least]}"
        )
        return steps[-1]
