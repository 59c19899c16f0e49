"""The table of bombs: those of the grammar, and the connections. Each is a function of an
attack."""

import functools
import random
import threading

from lib.seed import SEED

from bombs import grammar
from bombs.wires import WIRES, op_msg


def sql(text):
    return lambda attack: attack.sql(text)


def command(make):
    """Returns a bomb that sends a command, whose bytes are made when first needed."""
    made = functools.cache(lambda: op_msg(make()))
    lock = threading.Lock()

    def work(attack):
        with lock:
            message = made()
        attack.mongo(message, attack.within)

    return work


def pipeline(stages, source="wide"):
    return command(lambda: {"aggregate": source, "pipeline": stages, "cursor": {"batchSize": 1}})


def crossed():
    """Yields every value in every position: (family, position, bomb)."""
    for name, value in grammar.SQL_VALUES.items():
        for place, text in grammar.SQL_PLACES.items():
            yield f"SQL {name}", place, sql(text.format(*[value] * text.count("{}")))
    for name, value in grammar.MONGO_VALUES.items():
        for place, around in grammar.MONGO_PLACES.items():
            yield f"expression {name}", place, pipeline(around(value))


def single():
    """Yields the bombs that have one position."""
    for name, text in grammar.SQL_QUERIES.items():
        yield f"SQL {name}", sql(text)
    for name, stages in grammar.MONGO_PIPELINES.items():
        yield f"pipeline {name}", pipeline(stages)
    for name, make in grammar.MONGO_COMMANDS.items():
        yield f"command {name}", command(make)
    for name, work in WIRES.items():
        yield f"wire {name}", work


def table():
    """Returns all bombs by name."""
    found = {f"{family} in {place}": work for family, place, work in crossed()}
    found.update(single())
    return found


#: Bombs that take minutes, as they use gigabytes of temporary files: for the long run only.
LONG = {"expression literal array of arrays in $sort"}


def selection(count):
    """Returns the names of `count` bombs of all kinds, chosen by the seed."""
    rng, everything = random.Random(SEED), table()
    kinds = {}
    for name in (name for name in everything if name not in LONG):
        kinds.setdefault(name.split(" ")[0], []).append(name)
    chosen = []
    for _kind, names in sorted(kinds.items()):
        share = max(
            2, round(count * len(names) ** 0.5 / sum(len(it) ** 0.5 for it in kinds.values()))
        )
        chosen += rng.sample(names, min(len(names), share))
    return {name: everything[name] for name in chosen}
