"""Direct use of the asynchronous client: concurrent, with async for."""

import asyncio

import pytest
from azure.cosmos import PartitionKey
from azure.cosmos.aio import CosmosClient
from azure.cosmos.exceptions import CosmosResourceExistsError, CosmosResourceNotFoundError
from conftest import ENDPOINT, KEY, numbers


def run(test):
    async def inside():
        async with CosmosClient(ENDPOINT, KEY) as client:
            db = await client.create_database_if_not_exists("python-async")
            container = await db.create_container(
                f"c{next(numbers)}", PartitionKey("/pk"), default_ttl=10
            )
            await test(container)

    asyncio.run(inside())


def test_many_at_once():
    async def test(container):
        made = await asyncio.gather(
            *(container.create_item({"id": str(n), "pk": str(n % 7)}) for n in range(100))
        )
        assert len({item["_etag"] for item in made}) == 100
        read = await asyncio.gather(*(container.read_item(str(n), str(n % 7)) for n in range(100)))
        assert [item["id"] for item in read] == [str(n) for n in range(100)]
        found = [n async for n in container.query_items("SELECT VALUE c.id FROM c")]
        assert sorted(map(int, found)) == list(range(100))

    run(test)


def test_one_of_many_creates_wins():
    async def test(container):
        creates = (container.create_item({"id": "1", "pk": "a", "n": n}) for n in range(10))
        results = await asyncio.gather(*creates, return_exceptions=True)
        won = [result for result in results if not isinstance(result, Exception)]
        assert len(won) == 1
        assert all(
            isinstance(result, CosmosResourceExistsError)
            for result in results
            if result is not won[0]
        )
        assert await container.read_item("1", "a") == won[0]

    run(test)


def test_increments_at_once_are_all_kept():
    async def test(container):
        await container.create_item({"id": "1", "pk": "a", "n": 0})
        step = [{"op": "incr", "path": "/n", "value": 1}]
        await asyncio.gather(*(container.patch_item("1", "a", step) for _ in range(20)))
        assert (await container.read_item("1", "a"))["n"] == 20

    run(test)


def test_everything_is_dead_at_the_deadline(clock):
    async def test(container):
        await asyncio.gather(*(container.create_item({"id": str(n), "pk": "a"}) for n in range(20)))
        await asyncio.to_thread(clock.advance, 10)

        async def gone(name):
            with pytest.raises(CosmosResourceNotFoundError):
                await container.read_item(name, "a")

        await asyncio.gather(*(gone(str(n)) for n in range(20)))
        assert [n async for n in container.query_items("SELECT VALUE COUNT(1) FROM c")] == [0]

    run(test)


def test_pages():
    async def test(container):
        for n in range(5):
            await container.create_item({"id": str(n), "pk": "a"})
        sizes = []
        async for page in container.query_items("SELECT * FROM c", max_item_count=2).by_page():
            sizes.append(len([item async for item in page]))
        assert [size for size in sizes if size] == [2, 2, 1]

    run(test)
