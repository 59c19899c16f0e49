"""Sends requests as the .NET SDK v3 does in gateway mode: https, signatures, headers. Not an SDK.
Code shared with the tests from outside is imported from tests/outside/lib."""

import email.utils
import http.client
import json
import os
import ssl
import urllib.parse
import urllib.request
import uuid

from lib.nosql import Reply
from lib.signature import signature, whose

ENDPOINT = os.environ["EBB_HTTPS_ENDPOINT"]
KEY = os.environ["EBB_KEY"]


def trust():
    """Returns a context that trusts only the emulator's own certificate."""
    pem = os.environ["EBB_ENDPOINT"] + "/_explorer/emulator.pem"
    with urllib.request.urlopen(pem) as answer:
        return ssl.create_default_context(cadata=answer.read().decode())


def authorization(verb, kind, link, date, key=KEY):
    """Returns the header as encoded by .NET's UrlEncode, with lower-case hexadecimal digits."""
    token = f"type=master&ver=1.0&sig={signature(verb, kind, link, date, key)}"
    quoted = urllib.parse.quote(token, safe="!()*-._")
    return quoted.replace("%3D", "%3d").replace("%2B", "%2b").replace("%2F", "%2f")


class Client:
    """One persistent connection."""

    def __init__(self):
        host = urllib.parse.urlsplit(ENDPOINT).netloc
        self.connection = http.client.HTTPSConnection(host, context=trust(), timeout=60)

    def send(self, verb, path, body=None, *, rid=None, key=KEY, **headers):
        """`rid` is the resource id with which a request by resource ids is signed."""
        date = email.utils.formatdate(usegmt=True)
        kind, link = whose(path)
        wire = {
            "x-ms-date": date,
            "authorization": authorization(verb, kind, rid.lower() if rid else link, date, key),
            "x-ms-version": "2020-07-15",
            "x-ms-cosmos-sdk-supportedcapabilities": "1",
            "x-ms-activity-id": str(uuid.uuid4()),
            "user-agent": "cosmos-netstandard-sdk/3.54.0|1|X64|Linux|.NET 8.0|N|",
            "cache-control": "no-cache",
            "accept": "application/json",
        }
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
            wire["content-type"] = "application/json"
        wire.update({name.replace("_", "-"): value for name, value in headers.items()})
        self.connection.request(verb, path, body, wire)
        answer = self.connection.getresponse()
        return Reply(answer.status, answer.headers, answer.read())

    def query(self, path, sql, parameters=(), **headers):
        spec = {"query": sql}
        if parameters:
            spec["parameters"] = [{"name": name, "value": value} for name, value in parameters]
        return self.send(
            "POST",
            path,
            spec,
            content_type="application/query+json",
            x_ms_documentdb_isquery="True",
            **headers,
        )

    def plan(self, path, sql, parameters=()):
        """Requests a plan as .NET does except on Windows: no isquery, its own features."""
        spec = {"query": sql, "parameters": [{"name": n, "value": v} for n, v in parameters]}
        return self.send(
            "POST",
            path,
            spec,
            content_type="application/query+json",
            x_ms_cosmos_is_query_plan_request="True",
            x_ms_cosmos_query_version="1.0",
            x_ms_cosmos_supported_query_features="Aggregate, Distinct, GroupBy, MultipleOrderBy, "
            "MultipleAggregates, OffsetAndLimit, OrderBy, Top, NonValueAggregate, DCount, "
            "NonStreamingOrderBy, CountIf, HybridSearch, WeightedRankFusion, ListAndSetAggregate",
        )


def advance(seconds):
    """Moves the manual clock."""
    request = urllib.request.Request(
        os.environ["EBB_ADMIN"] + "/_ebb/clock",
        json.dumps({"advance_seconds": seconds}).encode(),
        {"content-type": "application/json"},
    )
    with urllib.request.urlopen(request) as answer:
        answer.read()


def bare(item):
    """Returns an item without the server's system properties."""
    return {name: value for name, value in item.items() if not name.startswith("_")}
