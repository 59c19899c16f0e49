"""Direct mode in a cluster: every node serves frames about all data, also while the owner changes,
and an address given by --cosmos-direct-advertise is that of the owner."""

import http.client
import json
import threading
import time
from email.utils import formatdate

import pytest
from lib.cluster import Cluster
from lib.frames import OWNER, Direct
from lib.signature import KEY, authorization

from cluster.take_overs import TAKE_OVERS

#: Bytes of an item, more than a client may send before its first request is complete.
LARGE = 600_000
#: Statuses of a write that may have been executed, or was not; SDKs report or repeat it.
UNKNOWN = (408, 410, 503)
#: Items written at least before and after a take-over.
ITEMS = 30
#: Seconds within which these are written, on a machine that runs other work too.
WITHIN = 90


def made(node):
    """Creates a container through a node, and returns it."""
    assert node.items.create_database("d").status == 201
    container = node.items.container("d", "c")
    assert container.define().status == 201
    return container


def test_every_node_serves_all_data():
    with Cluster() as cluster:
        owner = cluster.whole()
        container = made(owner)
        clients = [Direct(node.items.address) for node in cluster.nodes]
        for number, client in enumerate(clients):
            item = {"id": str(number), "pk": "a", "text": "x" * LARGE}
            assert container.through(client).create(item).status == 201
        names = [str(number) for number, _ in enumerate(clients)]
        for client in clients:
            seen = container.through(client)
            assert [seen.read(name, "a").status for name in [*names, "x"]] == [200, 200, 200, 404]
            query = "SELECT VALUE c.id FROM c ORDER BY c.id"
            assert seen.rows(query) == names
            assert sorted(row["id"] for row in seen.rows(size=1)) == names
            connection = client.frames
            assert connection.ask("read", ("d", "c", "0"), sent="x").status == 401
            assert connection is client.frames, "the connection was closed"
            client.close()
        # All of them, so the other nodes have forwarded theirs.
        assert owner.figure("ebb_nosql_direct_requests_total") >= 10 * len(clients)


class Writer(threading.Thread):
    """Creates items in direct mode through one node; `known` has the ids of acknowledged ones."""

    def __init__(self, node, container):
        super().__init__(daemon=True)
        self.node, self.name, self.container = node, node.name, container
        self.client = Direct(node.items.address)
        self.known, self.wrong, self.ends = [], None, False

    def run(self):
        number = 0
        while not self.ends:
            number += 1
            id = f"{self.name}-{number}"
            try:
                status = self.container.through(self.client).create({"id": id, "pk": "a"}).status
            except OSError as error:
                # The node itself was stopped or killed; it gets a new port.
                status = error
                time.sleep(0.05)
                self.client = Direct(self.node.items.address)
            if status == 201:
                self.known.append(id)
            elif not isinstance(status, OSError) and status not in UNKNOWN:
                self.wrong = f"{id}: {status}"
                return

    def until_more(self):
        """Waits until some more items are acknowledged."""
        until, goal = time.monotonic() + WITHIN, len(self.known) + ITEMS
        while len(self.known) < goal:
            assert self.wrong is None and time.monotonic() < until, (self.name, self.wrong)
            time.sleep(0.05)


@pytest.mark.parametrize("take_over", TAKE_OVERS)
def test_no_acknowledged_write_is_lost(take_over):
    with Cluster() as cluster:
        container = made(cluster.whole())
        writers = [Writer(node, container) for node in cluster.nodes]
        for writer in writers:
            writer.start()
        for writer in writers:
            writer.until_more()
        TAKE_OVERS[take_over](cluster)
        for writer in writers:
            writer.until_more()
        for writer in writers:
            writer.ends = True
        for writer in writers:
            writer.join(60)
            assert writer.wrong is None, writer.wrong
        stored = container.through(cluster.owner().items).rows("SELECT VALUE c.id FROM c")
        assert len(stored) == len(set(stored))
        for writer in writers:
            assert set(writer.known) <= set(stored), writer.name
            writer.client.close()


def addresses(node, rid, database):
    """Returns the host and path of each address that a node gives for a container."""
    host, date = node.items.address, formatdate(usegmt=True)
    resolved = f"dbs%2f{database}%2fcolls%2f{rid}%2fdocs".replace("=", "%3d")
    connection = http.client.HTTPConnection(*host, timeout=60)
    sent = {
        "authorization": authorization("get", "docs", rid.lower(), date, KEY),
        "x-ms-date": date,
        "x-ms-version": "2020-07-15",
    }
    path = f"//addresses/?$resolveFor={resolved}&$filter=protocol%20eq%20rntbd"
    connection.request("GET", f"{path}&$partitionKeyRangeIds=0", headers=sent)
    reply = connection.getresponse()
    text = reply.read()
    connection.close()
    assert reply.status == 200, text
    found = [row["physcialUri"] for row in json.loads(text)["Addresss"]]
    return {uri.removeprefix("rntbd://").split("/partitions/")[0] for uri in found}


def test_an_advertised_address_is_that_of_the_owner():
    flags = {
        number: ["--cosmos-direct-advertise", f"node{number}.example:8081"] for number in (1, 2, 3)
    }
    with Cluster(flags_of=flags) as cluster:
        owner = cluster.whole()
        container = made(owner)
        item = {"id": "1", "pk": "a"}
        assert container.create(item).status == 201
        rid = container.get().json["_rid"]
        database = owner.items.call("GET", "dbs/d").json["_rid"]
        clients = {node: Direct(node.items.address, replica=OWNER) for node in cluster.nodes}
        for at in range(2):
            if at:
                [to, *_] = cluster.followers()
                cluster.hand_over(to)
                owner = cluster.whole()
                assert owner is to
            for node, client in clients.items():
                found = addresses(node, rid, database)
                assert found == {f"{owner.name}.example:8081{OWNER.split('/partitions')[0]}"}
                expected = (200, 0) if node is owner else (410, 0)
                reply = container.through(client).read("1", "a")
                assert reply.code == expected, (node.name, owner.name, reply)
        for client in clients.values():
            client.close()
