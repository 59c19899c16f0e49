"""Resource ids contain characters that paths escape: a client that escapes them signs the unescaped
form."""

from lib.server import Server

#: Databases that are created until the ids of their offers contain every character of base64.
MANY = 260


def test_ids_that_paths_escape():
    with Server(nosql=True, mongo=False) as server:
        client, refused = server.items, []
        for number in range(MANY):
            headers = {"x-ms-offer-throughput": "400"}
            assert client.call("POST", "dbs", {"id": f"d{number}"}, headers).status == 201
        offers = client.call("GET", "offers", None, {"x-ms-max-item-count": "1000"}).json["Offers"]
        escaped = [offer["id"] for offer in offers if "+" in offer["id"]]
        assert len(offers) == MANY and escaped, "no id has such a character"
        for id in [*escaped, offers[0]["id"]]:
            reply = client.call("GET", f"offers/{id}")
            if reply.status != 200:
                refused.append(f"{id}: {reply}")
        assert not refused, refused[:3]
