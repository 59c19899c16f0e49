"""Documents and items are numbered and written in order through one node, while all paths of both
APIs read them through the others: each read returns a prefix of the writes that has everything
acknowledged, or read by anyone, before the read started. During this the data is handed over, and
the owner is killed, stopped and started. ROUNDS is the number of rounds.
"""

import os
import random
import time

from lib.cluster import Cluster
from lib.seed import SEED, TORTURE

from cluster.prefix import (
    COUNTS,
    DATABASE,
    LISTS,
    NAME,
    QUERIES,
    DocumentReader,
    DocumentWriter,
    ItemReader,
    ItemWriter,
    Numbers,
)
from cluster.take_overs import TAKE_OVERS

ROUNDS = int(os.environ.get("ROUNDS", 20 if TORTURE else 1))
#: The take-overs of a round without TORTURE.
WANTED = ("hand-over", "kill")
#: Seconds before and after each change of the owner.
AROUND = 0.7


def strikes():
    chosen = random.Random(SEED)
    return chosen.choices(list(TAKE_OVERS), k=4) if TORTURE else WANTED


def make(node):
    """Creates an empty collection and an empty container."""
    node.client.drop_database(DATABASE)
    node.client[DATABASE][NAME].create_index("k")
    assert node.items.call("DELETE", f"dbs/{DATABASE}").status in (204, 404)
    assert node.items.create_database(DATABASE).status == 201
    assert node.items.container(DATABASE, NAME).define().status == 201


def ends(server, documents, items):
    """Returns the errors that any path shows after all writers have ended."""
    wrong = []
    for kind, numbers in ((DocumentReader, documents), (ItemReader, items)):
        reader = kind(server, numbers)
        client = reader.connect()
        for _ in range(len([*LISTS, *COUNTS, *QUERIES])):
            reader.one(client)
        client.close()
        wrong += [f"in the end: {reader.name}: {text}" for text in reader.wrong]
    return wrong


def one_round(cluster, round):
    writer, *others = [cluster.nodes[(round + at) % 3] for at in range(3)]
    make(cluster.owner())
    documents, items = Numbers(), Numbers()
    workers = [DocumentWriter(writer, documents), ItemWriter(writer, items)]
    workers += [DocumentReader(node, documents) for node in others]
    workers += [ItemReader(node, items) for node in others]
    for worker in workers:
        worker.thread.start()
    try:
        for name in strikes():
            time.sleep(AROUND)
            TAKE_OVERS[name](cluster)
            cluster.whole()
            time.sleep(AROUND)
    finally:
        wrong = [text for worker in workers for text in worker.end()]
    for node in cluster.nodes:
        wrong += ends(node, documents, items)
    return wrong, workers, documents.acked + items.acked


def test_what_is_read_is_a_prefix(capsys):
    answers, broken, written = 0, 0, 0
    with Cluster() as cluster:
        for round in range(ROUNDS):
            wrong, workers, acked = one_round(cluster, round)
            told = "\n".join(wrong[:10])
            assert not wrong, f"SEED={SEED}, round {round}, {len(wrong)} things:\n{told}"
            assert all(worker.done > 20 for worker in workers), [one.done for one in workers]
            answers += sum(worker.done for worker in workers[2:])
            broken += sum(worker.broken for worker in workers)
            written += acked
        cluster.verify(*cluster.nodes)
    with capsys.disabled():
        print(f"\n{written} written, {answers} answers, each a prefix; {broken} without an answer")
