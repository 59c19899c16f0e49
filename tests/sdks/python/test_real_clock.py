"""The one test on the machine's own clock, against a server of its own."""

import os
import time

from azure.cosmos import CosmosClient, PartitionKey
from azure.cosmos.exceptions import CosmosResourceNotFoundError
from conftest import KEY


def test_real_clock_a_ttl_of_one_second():
    with CosmosClient(os.environ["EBB_SYSTEM_ENDPOINT"], KEY) as client:
        container = client.create_database("python").create_container(
            "c", PartitionKey("/pk"), default_ttl=3600
        )
        started = time.monotonic()
        container.create_item({"id": "1", "pk": "a", "ttl": 1})
        container.create_item({"id": "2", "pk": "a"})
        try:
            while container.read_item("1", "a"):
                assert time.monotonic() < started + 10, "still there after ten seconds"
                time.sleep(0.02)
        except CosmosResourceNotFoundError:
            pass
        assert [item["id"] for item in container.read_all_items()] == ["2"]
        assert list(container.query_items("SELECT VALUE COUNT(1) FROM c", partition_key="a")) == [1]
        container.create_item({"id": "1", "pk": "a"})
