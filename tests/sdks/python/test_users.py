"""Users, their permissions, and the operations that a resource token permits."""

import pytest
from conftest import TEXTS, bare, ids, numbers, refused


@pytest.fixture
def user(db):
    return db.create_user({"id": f"user {next(numbers)}"})


def permit(user, resource, mode, **more):
    permission = user.create_permission(
        {"id": f"p{next(numbers)}", "permissionMode": mode, "resource": resource, **more}
    )
    return permission.properties


def holder(connect, container, properties):
    """Returns the same container for a client that has only this token."""
    client = connect({container.container_link: properties["_token"]})
    return client.get_database_client(container.container_link.split("/")[1]).get_container_client(
        container.id
    )


def test_users(db):
    name = f"user {next(numbers)}"
    user = db.create_user({"id": name})
    found = user.read()
    assert found["id"] == name
    assert "_permissions" in found
    assert name in ids(db.list_users())
    named = [{"name": "@id", "value": name}]
    assert ids(db.query_users("SELECT * FROM u WHERE u.id = @id", parameters=named)) == [name]
    with refused(409):
        db.create_user({"id": name})
    db.replace_user(name, {"id": name + " renamed"})
    assert name not in ids(db.list_users())
    db.upsert_user({"id": name})
    db.delete_user(name + " renamed")
    assert name in ids(db.list_users())
    db.delete_user(name)
    with refused(404):
        db.delete_user(name)


def test_permissions(user, container):
    made = user.create_permission(
        {"id": "read", "permissionMode": "Read", "resource": container.container_link}
    )
    assert made.permission_mode == "Read"
    assert made.properties["_token"].startswith("type=resource&")
    assert user.get_permission("read").resource_link == container.container_link
    assert ids(user.list_permissions()) == ["read"]
    user.replace_permission(
        "read", {"id": "read", "permissionMode": "All", "resource": container.container_link}
    )
    assert user.get_permission("read").permission_mode == "All"
    item = {
        "id": "other",
        "permissionMode": "Read",
        "resource": container.container_link + "/docs/x",
    }
    with refused(400):
        user.upsert_permission(item)
    user.upsert_permission({**item, "resourcePartitionKey": ["a"]})
    assert ids(user.list_permissions()) == ["other", "read"]
    assert ids(user.query_permissions("SELECT * FROM p WHERE p.id = 'read'")) == ["read"]
    user.delete_permission("read")
    with refused(404):
        user.get_permission("read")
    with refused(400):
        user.create_permission(
            {"id": "bad", "permissionMode": "Some", "resource": container.container_link}
        )


def test_a_token_that_reads(connect, user, container, query):
    container.create_item({"id": "1", "pk": "a"})
    mine = holder(connect, container, permit(user, container.container_link, "Read"))
    assert mine.read_item("1", "a")["id"] == "1"
    assert ids(query(mine, "SELECT * FROM c")) == ["1"]
    with refused(403):
        mine.create_item({"id": "2", "pk": "a"})
    with refused(403):
        mine.upsert_item({"id": "1", "pk": "a", "n": 1})
    with refused(403):
        mine.delete_item("1", "a")
    assert ids(container.read_all_items()) == ["1"]


def test_a_token_that_does_all(connect, user, container):
    mine = holder(connect, container, permit(user, container.container_link, "All"))
    mine.create_item({"id": "1", "pk": "a"})
    mine.upsert_item({"id": "1", "pk": "a", "n": 1})
    mine.patch_item("1", "a", [{"op": "incr", "path": "/n", "value": 1}])
    assert bare(container.read_item("1", "a")) == {"id": "1", "pk": "a", "n": 2}
    mine.delete_item("1", "a")
    assert list(container.read_all_items()) == []


def test_a_token_of_one_partition_key(connect, user, container, query):
    for pk in ("a", "b"):
        container.create_item({"id": "1", "pk": pk})
    mine = holder(
        connect,
        container,
        permit(user, container.container_link, "Read", resourcePartitionKey=["a"]),
    )
    assert mine.read_item("1", "a")["pk"] == "a"
    with refused(403):
        mine.read_item("1", "b")
    assert [item["pk"] for item in query(mine, "SELECT * FROM c", partition_key="a")] == ["a"]
    with refused(403):
        list(query(mine, "SELECT * FROM c", partition_key="b"))
    with refused(403):
        list(query(mine, "SELECT * FROM c"))


def test_a_token_is_good_for_its_container_alone(connect, user, make):
    mine, other = make(), make()
    properties = permit(user, mine.container_link, "All")
    # The SDK sends the first token if it has none for the link.
    client = connect(
        {mine.container_link: properties["_token"], other.container_link: properties["_token"]}
    )
    database = client.get_database_client(mine.container_link.split("/")[1])
    database.get_container_client(mine.id).create_item({"id": "1", "pk": "a"})
    with refused(403):
        database.get_container_client(other.id).read()
    assert list(other.read_all_items()) == []


def test_a_forged_token_is_401(connect, user, container):
    properties = permit(user, container.container_link, "Read")
    forged = dict(properties, _token=properties["_token"][:-8] + "AAAAAAA=")
    with refused(401, text=TEXTS["unauthorized"]):
        holder(connect, container, forged).read()
