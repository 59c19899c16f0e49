"""Throughput of containers and databases, stored and returned."""

import pytest
from azure.cosmos import ThroughputProperties
from conftest import numbers, refused


def test_of_a_container(make):
    container = make(offer_throughput=400)
    found = container.get_throughput()
    assert found.offer_throughput == 400
    assert container.replace_throughput(500).offer_throughput == 500
    assert container.get_throughput().offer_throughput == 500


def test_of_a_database(client, flavor):
    name = f"throughput-{flavor}-{next(numbers)}"
    database = client.create_database(name, offer_throughput=600)
    try:
        assert database.get_throughput().offer_throughput == 600
        database.replace_throughput(700)
        assert database.get_throughput().offer_throughput == 700
    finally:
        client.delete_database(name)


def test_that_scales_itself(make):
    container = make(
        offer_throughput=ThroughputProperties(
            auto_scale_max_throughput=4000, auto_scale_increment_percent=0
        )
    )
    assert container.get_throughput().auto_scale_max_throughput == 4000
    container.replace_throughput(ThroughputProperties(auto_scale_max_throughput=5000))
    assert container.get_throughput().auto_scale_max_throughput == 5000


@pytest.mark.parametrize("value", [100, 399, 450, -400])
def test_too_little_is_refused(make, value):
    with refused(400):
        make(offer_throughput=value)
