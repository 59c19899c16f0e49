"""Signs requests to the NoSQL API with an account's key."""

import base64
import hashlib
import hmac
import urllib.parse

#: The well-known key of the Cosmos DB emulator.
KEY = "C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw=="
OF_PARTITIONS = "/operations/partitionkeydelete"


def whose(path):
    """Returns the resource type and the link to sign for a path."""
    link = path.split("?")[0].strip("/")
    if link.endswith(OF_PARTITIONS):
        return "partitionkey", link.removesuffix(OF_PARTITIONS)
    parts = [part for part in link.split("/") if part]
    if not parts:
        return "", ""
    if len(parts) % 2:
        return parts[-1], "/".join(parts[:-1])
    if parts[0] == "offers":
        return "offers", parts[1].lower()
    return parts[-2], link


def signature(verb, kind, link, date, key=KEY):
    """Returns a request's signature in base64."""
    text = f"{verb.lower()}\n{kind.lower()}\n{link}\n{date.lower()}\n\n"
    digest = hmac.new(
        base64.b64decode(key), text.encode("utf-8", "surrogateescape"), hashlib.sha256
    )
    return base64.b64encode(digest.digest()).decode()


def authorization(verb, kind, link, date, key=KEY):
    """Returns the authorization header of a correctly signed request."""
    signed = signature(verb, kind, link, date, key)
    return urllib.parse.quote(f"type=master&ver=1.0&sig={signed}", safe="")
