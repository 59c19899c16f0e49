"""Replays requests of the .NET SDK v3 in gateway mode; .NET itself is not needed.

EBB_ENDPOINT=... EBB_HTTPS_ENDPOINT=... EBB_ADMIN=... EBB_KEY=... python3 replay.py [-v]
"""

import base64
import email.utils
import json
import unittest

from wire import Client, advance, authorization, bare

NO_ITEM = "Entity with the specified id does not exist in the system."
PK = "x_ms_documentdb_partitionkey"
A, B = {PK: '["a"]'}, {PK: '["b"]'}


class Replay(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.client = Client()
        self.addCleanup(self.client.connection.close)
        self.database = "/dbs/net-" + self._testMethodName
        self.created("/dbs", {"id": self.database[5:]})
        self.addCleanup(self.client.send, "DELETE", self.database)

    def created(self, path, body, **headers):
        answer = self.client.send("POST", path, body, **headers)
        self.assertEqual(answer.status, 201, answer.body)
        return answer

    def container(self, name="c", **definition):
        definition = {"partitionKey": {"paths": ["/pk"], "kind": "Hash", "version": 2}} | definition
        answer = self.created(self.database + "/colls", {"id": name} | definition)
        return f"{self.database}/colls/{name}", answer.json

    def put(self, container, *items):
        for item in items:
            self.created(container + "/docs", item, **{PK: json.dumps([item["pk"]])})

    def refused(self, answer, status, substatus, part=""):
        self.assertEqual(answer.code, (status, substatus), answer.body)
        message = answer.json["message"]
        self.assertIn(part, message.replace('\\"', '"'))

    def found(self, answer):
        self.assertEqual(answer.status, 200, answer.body)
        self.assertEqual(answer.json["_count"], len(answer.json["Documents"]))
        return answer.json["Documents"]

    # -- start, databases, containers ------------------------------------------------------------

    def test_start(self):
        account = self.client.send("GET", "/")
        self.assertEqual(account.status, 200)
        where = account.json["writableLocations"][0]["databaseAccountEndpoint"]
        self.assertEqual(
            where.rstrip("/"),
            f"https://{self.client.connection.host}:{self.client.connection.port}",
        )
        self.assertEqual(
            account.json["userConsistencyPolicy"]["defaultConsistencyLevel"], "Session"
        )
        json.loads(account.json["queryEngineConfiguration"])

    def test_wrong_key(self):
        answer = self.client.send(
            "GET", "/dbs", key="bm90IHRoZSBrZXkgb2YgdGhpcyBhY2NvdW50IGF0IGFsbA=="
        )
        self.refused(answer, 401, 0, "The input authorization token can't serve the request.")

    def test_create_if_not_exists(self):
        self.refused(self.client.send("GET", "/dbs/net-none"), 404, 0)
        self.refused(self.client.send("GET", self.database + "/colls/c"), 404, 0)
        container, _ = self.container()
        self.assertEqual(self.client.send("GET", container).status, 200)
        self.refused(
            self.client.send(
                "POST", self.database + "/colls", {"id": "c", "partitionKey": {"paths": ["/pk"]}}
            ),
            409,
            0,
        )
        self.refused(self.client.send("POST", "/dbs", {"id": self.database[5:]}), 409, 0)
        feed = self.client.send("GET", self.database + "/colls", x_ms_max_item_count="-1")
        self.assertEqual([one["id"] for one in feed.json["DocumentCollections"]], ["c"])

    def test_links_of_resource_ids(self):
        """The SDK reads ranges by resource ids, whose links it converts to lower case."""
        _, shown = self.container()
        database = self.client.send("GET", self.database).json["_rid"]
        by_rid = f"/dbs/{database}/colls/{shown['_rid']}"
        self.assertEqual(self.client.send("GET", by_rid, rid=shown["_rid"]).json["id"], "c")
        headers = {"a_im": "Incremental Feed", "x_ms_max_item_count": "-1"}
        ranges = self.client.send("GET", by_rid + "/pkranges", rid=shown["_rid"], **headers)
        self.assertEqual(ranges.status, 200, ranges.body)
        (one,) = ranges.json["PartitionKeyRanges"]
        self.assertEqual((one["id"], one["minInclusive"], one["maxExclusive"]), ("0", "", "FF"))
        again = self.client.send(
            "GET",
            by_rid + "/pkranges",
            rid=shown["_rid"],
            if_none_match=ranges.headers["etag"],
            **headers,
        )
        self.assertEqual((again.status, again.body), (304, b""))

    def test_items_by_resource_id(self):
        container, shown = self.container()
        database = self.client.send("GET", self.database).json["_rid"]
        self.put(container, {"id": "1", "pk": "a"})
        item = self.client.send("GET", container + "/docs/1", **A).json
        path = f"/dbs/{database}/colls/{shown['_rid']}/docs/{item['_rid']}"
        self.assertEqual(self.client.send("GET", path, rid=item["_rid"], **A).json, item)
        self.assertEqual(self.client.send("DELETE", path, rid=item["_rid"], **A).status, 204)

    def test_delete_by_partition_key(self):
        container, _ = self.container()
        self.put(container, {"id": "1", "pk": "a"}, {"id": "1", "pk": "b"})
        answer = self.client.send("POST", container + "/operations/partitionkeydelete", b"", **A)
        self.assertEqual(answer.status, 200, answer.body)
        left = self.client.query(
            container + "/docs",
            "SELECT VALUE c.pk FROM c",
            x_ms_documentdb_query_enablecrosspartition="True",
        )
        self.assertEqual(self.found(left), ["b"])

    def test_throughput(self):
        headers = {"x_ms_offer_throughput": "400"}
        shown = self.created(
            self.database + "/colls", {"id": "c", "partitionKey": {"paths": ["/pk"]}}, **headers
        ).json
        sql = "SELECT * FROM root r WHERE r.offerResourceId= @targetRID"
        offers = self.client.query("/offers", sql, [("@targetRID", shown["_rid"])])
        self.assertEqual(offers.status, 200, offers.body)
        (offer,) = offers.json["Offers"]
        self.assertEqual(offer["content"]["offerThroughput"], 400)
        offer["content"]["offerThroughput"] = 600
        replaced = self.client.send("PUT", "/offers/" + offer["_rid"], offer, rid=offer["_rid"])
        self.assertEqual(replaced.json["content"]["offerThroughput"], 600)

    def test_replacing_a_container(self):
        container, shown = self.container()
        for ttl in (-1, 20):
            shown = self.client.send("PUT", container, shown | {"defaultTtl": ttl}).json
            self.assertEqual(shown["defaultTtl"], ttl)
        del shown["defaultTtl"]
        self.assertNotIn("defaultTtl", self.client.send("PUT", container, shown).json)
        bad = shown | {
            "defaultTtl": 5,
            "indexingPolicy": {"indexingMode": "none", "automatic": False},
        }
        why = (
            "Indexing mode value cannot be 'none' when 'defaultTtl' is specified in the collection"
        )
        self.refused(self.client.send("PUT", container, bad), 400, 0, why)
        for ttl in (0, -2, -10, None, 2147483648, 1.5, "5", True):
            self.refused(self.client.send("PUT", container, shown | {"defaultTtl": ttl}), 400, 0)

    # -- items -----------------------------------------------------------------------------------

    def test_items(self):
        container, _ = self.container()
        docs = container + "/docs"
        item = {"id": "1", "pk": "a", "n": 1}
        created = self.created(docs, item, **A)
        self.assertEqual(bare(created.json), item)
        self.assertEqual(created.headers["etag"], created.json["_etag"])
        for name in ("x-ms-request-charge", "x-ms-activity-id", "x-ms-session-token"):
            self.assertIn(name, created.headers)
        self.refused(self.client.send("POST", docs, item, **A), 409, 0, "already exists")
        read = self.client.send("GET", docs + "/1", **A)
        self.assertEqual(read.json, created.json)
        same = self.client.send("GET", docs + "/1", if_none_match=created.headers["etag"], **A)
        self.assertEqual((same.status, same.body), (304, b""))
        replaced = self.client.send(
            "PUT", docs + "/1", item | {"n": 2}, if_match=created.headers["etag"], **A
        )
        self.assertEqual(replaced.status, 200)
        stale = self.client.send("PUT", docs + "/1", item, if_match=created.headers["etag"], **A)
        text = (
            "One of the specified pre-condition is not met. Learn more: "
            "https://aka.ms/CosmosDB/sql/errors/precondition-failed"
        )
        self.refused(stale, 412, 0, text)
        upsert = {"x_ms_documentdb_is_upsert": "True"} | A
        self.assertEqual(self.client.send("POST", docs, item | {"id": "2"}, **upsert).status, 201)
        self.assertEqual(self.client.send("POST", docs, item, **upsert).status, 200)
        quiet = self.client.send("POST", docs, item | {"id": "3"}, prefer="return=minimal", **A)
        self.assertEqual((quiet.status, quiet.body), (201, b""))
        self.refused(self.client.send("POST", docs, item | {"id": "4"}, **B), 400, 1001)
        gone = self.client.send("DELETE", docs + "/1", **A)
        self.assertEqual((gone.status, gone.body), (204, b""))
        self.refused(self.client.send("GET", docs + "/1", **A), 404, 0, NO_ITEM)

    def test_patch(self):
        container, _ = self.container()
        self.put(container, {"id": "1", "pk": "a", "n": 1, "list": [1], "old": 1, "from": 2})
        operations = [
            {"op": "add", "path": "/list/-", "value": 2},
            {"op": "set", "path": "/new", "value": "x"},
            {"op": "replace", "path": "/n", "value": 5},
            {"op": "incr", "path": "/n", "value": 1.5},
            {"op": "remove", "path": "/old"},
            {"op": "move", "from": "/from", "path": "/to"},
        ]
        body = {"operations": operations, "condition": "FROM c WHERE c.n = 1"}

        def send():
            return self.client.send(
                "PATCH",
                container + "/docs/1",
                body,
                content_type="application/json-patch+json",
                **A,
            )

        want = {"id": "1", "pk": "a", "n": 6.5, "list": [1, 2], "new": "x", "to": 2}
        answer = send()
        self.assertEqual(answer.status, 200, answer.body)
        self.assertEqual(bare(answer.json), want)
        self.refused(send(), 412, 0)

    def test_every_partition_key(self):
        container, _ = self.container()
        for value in ("ключ", "", 1, -1.5, True, False, None):
            # JSON in a header: non-ASCII characters are escaped.
            header = {PK: json.dumps([value])}
            self.created(container + "/docs", {"id": "1", "pk": value}, **header)
            self.assertEqual(
                self.client.send("GET", container + "/docs/1", **header).json["pk"], value
            )
        none = {PK: "[{}]"}
        self.created(container + "/docs", {"id": "1"}, **none)
        self.assertEqual(
            bare(self.client.send("GET", container + "/docs/1", **none).json), {"id": "1"}
        )

    def test_session_token_of_the_future(self):
        container, _ = self.container()
        self.put(container, {"id": "1", "pk": "a"})
        answer = self.client.send(
            "GET", container + "/docs/1", x_ms_session_token="0:-1#999999999999", **A
        )
        text = "The read/write session is not available for the input session token."
        self.refused(answer, 404, 1002, text)

    def test_batches_in_hybrid_row(self):
        """The delete of one item as the SDK for .NET sends it, and the same truncated."""
        container, _ = self.container()
        self.put(container, {"id": "one", "pk": "a"})
        body = base64.b64decode(
            "gfDY/38BCgAAAIHx2P9/GgAAADpfNJeBcFThfxMEAAAAAgAAAANvbmUUCQVzdGFsZQ=="
        )
        headers = {
            "x_ms_cosmos_is_batch_request": "True",
            "x_ms_cosmos_batch_atomic": "True",
            "x_ms_cosmos_batch_ordered": "True",
        }
        answer = self.client.send("POST", container + "/docs", body, **headers, **A)
        self.assertEqual(answer.status, 207)
        answer = self.client.send("POST", container + "/docs", body[:-1], **headers, **A)
        self.refused(answer, 400, 0, "HybridRow")

    # -- queries ---------------------------------------------------------------------------------

    def shelf(self):
        container, _ = self.container()
        self.put(
            container,
            {"id": "1", "pk": "a", "n": 3, "kind": "x"},
            {"id": "2", "pk": "a", "n": 1, "kind": "y"},
            {"id": "3", "pk": "b", "n": 2, "kind": "x"},
            {"id": "4", "pk": "b", "kind": "x"},
        )
        return container + "/docs"

    def test_queries_that_pass_through(self):
        docs = self.shelf()
        sql = 'SELECT VALUE root FROM root WHERE (root["n"] > @n)'
        one = self.client.query(docs, sql, [("@n", 1)], x_ms_max_item_count="-1", **A)
        self.assertEqual([item["id"] for item in self.found(one)], ["1"])
        self.assertEqual(
            self.found(self.client.query(docs, "SELECT VALUE COUNT(1) FROM root", **A)), [2]
        )
        all_ = {
            "x_ms_documentdb_query_enablecrosspartition": "True",
            "x_ms_documentdb_partitionkeyrangeid": "0",
        }
        many = self.client.query(docs, 'SELECT * FROM c WHERE c["kind"] IN ("y", "z")', **all_)
        self.assertEqual([item["id"] for item in self.found(many)], ["2"])
        read_many = (
            'SELECT * FROM c WHERE ( ( c.id = "1" AND c["pk"] = "a" ) '
            'OR ( c.id = "3" AND c["pk"] = "b" ) )'
        )
        self.assertEqual(
            sorted(item["id"] for item in self.found(self.client.query(docs, read_many, **all_))),
            ["1", "3"],
        )

    def test_query_metrics(self):
        docs = self.shelf()
        answer = self.client.query(
            docs, "SELECT * FROM c", x_ms_documentdb_populatequerymetrics="True", **A
        )
        self.assertEqual(len(self.found(answer)), 2)
        self.assertEqual(answer.headers["x-ms-item-count"], "2")

    def test_pages(self):
        docs = self.shelf()
        found, token = [], None
        headers = {"x_ms_max_item_count": "1", "x_ms_documentdb_partitionkeyrangeid": "0"}
        for _ in range(10):
            more = {"x_ms_continuation": token} if token else {}
            answer = self.client.query(docs, "SELECT * FROM c", **headers, **more)
            page = self.found(answer)
            self.assertLessEqual(len(page), 1)
            found += [item["id"] for item in page]
            token = answer.headers.get("x-ms-continuation")
            if not token:
                break
        self.assertEqual(sorted(found), ["1", "2", "3", "4"])

    def ranged(self, docs, sql, parameters=()):
        """Runs a query of one range, as the SDK sends it after a plan."""
        answer = self.client.query(
            docs,
            sql,
            parameters,
            x_ms_documentdb_partitionkeyrangeid="0",
            x_ms_documentdb_query_enablecrosspartition="True",
            x_ms_documentdb_query_parallelizecrosspartitionquery="True",
        )
        return self.found(answer)

    def planned(self, docs, sql, parameters=()):
        """Requests a plan and runs its query, as the SDK does; returns both."""
        plan = self.client.plan(docs, sql, parameters)
        self.assertEqual(plan.status, 200, plan.body)
        whole = {"min": "", "max": "FF", "isMinInclusive": True, "isMaxInclusive": False}
        self.assertEqual(plan.json["queryRanges"], [whole])
        info = plan.json["queryInfo"]
        text = (
            info["rewrittenQuery"].replace("{documentdb-formattableorderbyquery-filter}", "true")
            or sql
        )
        return info, self.ranged(docs, text, parameters)

    def test_plan_of_order_by(self):
        info, found = self.planned(
            self.shelf(), "SELECT c.id FROM c WHERE c.n > @n ORDER BY c.n DESC", [("@n", 0)]
        )
        self.assertEqual((info["orderBy"], info["orderByExpressions"]), (["Descending"], ["c.n"]))
        self.assertEqual(
            [row["orderByItems"] for row in found], [[{"item": 3}], [{"item": 2}], [{"item": 1}]]
        )
        self.assertEqual([row["payload"] for row in found], [{"id": "1"}, {"id": "3"}, {"id": "2"}])
        self.assertTrue(all(row["_rid"] for row in found))

    def test_plan_of_aggregates(self):
        docs = self.shelf()
        info, found = self.planned(docs, "SELECT VALUE COUNT(1) FROM c")
        self.assertEqual((info["aggregates"], info["hasSelectValue"]), (["Count"], True))
        self.assertEqual(found, [[{"item": 4}]])
        info, found = self.planned(docs, "SELECT VALUE AVG(c.n) FROM c")
        self.assertEqual(info["aggregates"], ["Average"])
        self.assertEqual(found, [[{"item": {"sum": 6, "count": 3}}]])
        info, found = self.planned(docs, "SELECT COUNT(1) AS many, SUM(c.n) AS total FROM c")
        self.assertEqual(info["groupByAliasToAggregateType"], {"many": "Count", "total": "Sum"})
        self.assertEqual(found, [{"payload": {"many": {"item": 4}, "total": {"item": 6}}}])

    def test_plan_of_group_by(self):
        info, found = self.planned(
            self.shelf(), "SELECT c.kind, COUNT(1) AS many FROM c GROUP BY c.kind"
        )
        self.assertEqual(
            (info["groupByExpressions"], info["groupByAliases"]), (["c.kind"], ["kind", "many"])
        )
        self.assertEqual(info["groupByAliasToAggregateType"], {"kind": None, "many": "Count"})
        found.sort(key=lambda group: group["groupByItems"][0]["item"])
        self.assertEqual(
            [group["groupByItems"] for group in found], [[{"item": "x"}], [{"item": "y"}]]
        )
        self.assertEqual(
            [group["payload"] for group in found],
            [{"kind": "x", "many": {"item": 3}}, {"kind": "y", "many": {"item": 1}}],
        )

    def test_plan_of_limits(self):
        docs = self.shelf()
        self.assertEqual(
            self.client.plan(docs, "SELECT TOP 5 * FROM c").json["queryInfo"]["top"], 5
        )
        info, found = self.planned(docs, "SELECT VALUE c.id FROM c OFFSET 1 LIMIT 2")
        # Each range also returns the rows to skip: the SDK skips them.
        self.assertEqual((info["offset"], info["limit"], len(found)), (1, 2, 3))
        for sql, kind in (
            ("SELECT DISTINCT c.kind FROM c", "Unordered"),
            ("SELECT DISTINCT VALUE c.kind FROM c ORDER BY c.kind", "Ordered"),
            ("SELECT * FROM c", "None"),
        ):
            self.assertEqual(
                self.client.plan(docs, sql).json["queryInfo"]["distinctType"], kind, sql
            )

    def test_rewritten_queries(self):
        """Queries as rewritten by planners in the client (Windows, other SDKs)."""
        docs = self.shelf()
        rows = self.ranged(
            docs,
            'SELECT c._rid, [{"item": c.n}] AS orderByItems, {"id": c.id} AS payload '
            "FROM c WHERE (c.n > 0) AND (true) ORDER BY c.n DESC",
        )
        self.assertEqual(
            [row["orderByItems"] for row in rows], [[{"item": 3}], [{"item": 2}], [{"item": 1}]]
        )
        self.assertEqual([row["payload"] for row in rows], [{"id": "1"}, {"id": "3"}, {"id": "2"}])
        self.assertTrue(all(row["_rid"] for row in rows))
        self.assertEqual(
            self.ranged(docs, 'SELECT VALUE [{"item": COUNT(1)}] FROM c'), [[{"item": 4}]]
        )
        average = 'SELECT VALUE [{"item": {"sum": SUM(c.n), "count": COUNT(c.n)}}] FROM c'
        self.assertEqual(self.ranged(docs, average), [[{"item": {"sum": 6, "count": 3}}]])
        groups = self.ranged(
            docs,
            'SELECT [{"item": c.kind}] AS groupByItems, '
            '{"kind": c.kind, "many": {"item": COUNT(1)}} AS payload FROM c GROUP BY c.kind',
        )
        groups.sort(key=lambda group: group["payload"]["kind"])
        want = [
            {"groupByItems": [{"item": kind}], "payload": {"kind": kind, "many": {"item": many}}}
            for kind, many in (("x", 3), ("y", 1))
        ]
        self.assertEqual(groups, want)
        undefined = self.ranged(
            docs, 'SELECT c._rid, [{"item": c.none}] AS orderByItems FROM c ORDER BY c.none'
        )
        self.assertEqual([row["orderByItems"] for row in undefined], [[{}]] * 4)

    def test_bad_queries(self):
        docs = self.shelf()
        for sql, part in (
            ("SELECT * FORM c", "Syntax error, incorrect syntax near"),
            ("SELECT nowhere.x FROM c", "Identifier 'nowhere' could not be resolved."),
            ("SELECT NOSUCH(c.x) FROM c", "'NOSUCH' is not a recognized built-in function name."),
        ):
            self.refused(self.client.query(docs, sql, **A), 400, 0, part)
            self.refused(self.client.plan(docs, sql), 400, 0, part)

    # -- change feed and TTL ---------------------------------------------------------------------

    def changes(self, docs, etag=None, **headers):
        headers = {"a_im": "Incremental Feed", "x_ms_documentdb_partitionkeyrangeid": "0"} | headers
        if etag:
            headers["if_none_match"] = etag
        answer = self.client.send("GET", docs, **headers)
        if answer.status == 304:
            return [], answer.headers["etag"]
        return self.found(answer), answer.headers["etag"]

    def test_change_feed(self):
        docs = self.shelf()
        now, start = self.changes(docs, "*")
        self.assertEqual(now, [])
        found, etag = self.changes(docs)
        self.assertEqual([item["id"] for item in found], ["1", "2", "3", "4"])
        self.assertEqual(self.changes(docs, etag)[0], [])
        self.client.send("DELETE", docs + "/1", **A)
        self.put(docs.removesuffix("/docs"), {"id": "5", "pk": "a"})
        for since in (start, etag):
            self.assertEqual([item["id"] for item in self.changes(docs, since)[0]], ["5"])

    def test_all_versions_and_deletes(self):
        policy = {"changeFeedPolicy": {"retentionDuration": 60}, "defaultTtl": -1}
        container, _ = self.container(**policy)
        full = {
            "a_im": "Full-Fidelity Feed",
            "x_ms_cosmos_changefeed_wire_format_version": "2021-09-15",
        }
        docs = container + "/docs"
        _, start = self.changes(docs, "*", **full)
        self.put(container, {"id": "1", "pk": "a", "ttl": 5}, {"id": "2", "pk": "a"})
        self.client.send("DELETE", docs + "/2", **A)
        advance(5)
        found, _ = self.changes(docs, start, **full)
        kinds = [
            (
                change["metadata"]["operationType"],
                change["metadata"].get("timeToLiveExpired", False),
            )
            for change in found
        ]
        self.assertEqual(
            kinds, [("create", False), ("create", False), ("delete", False), ("delete", True)]
        )
        died = found[3]["metadata"]
        self.assertEqual((died["id"], died["partitionKey"]), ("1", {"pk": "a"}))

    def test_feeds_that_are_refused(self):
        container, _ = self.container(changeFeedPolicy={"retentionDuration": 0})
        full = {
            "a_im": "Full-Fidelity Feed",
            "x_ms_cosmos_changefeed_wire_format_version": "2021-09-15",
            "x_ms_documentdb_partitionkeyrangeid": "0",
        }
        why = "Change Feed 'All Versions and Deletes' mode must be enabled."
        self.refused(
            self.client.send("GET", container + "/docs", if_none_match="*", **full), 400, 0, why
        )
        kept, _ = self.container("d")
        why = "Start from beginning is not supported with 'All Versions and Deletes' mode."
        self.refused(self.client.send("GET", kept + "/docs", **full), 400, 0, why)

    def test_time_to_live(self):
        container, _ = self.container(defaultTtl=10)
        docs = container + "/docs"
        self.put(
            container,
            {"id": "1", "pk": "a"},
            {"id": "2", "pk": "a", "ttl": 20},
            {"id": "3", "pk": "a", "ttl": -1},
        )
        for seconds, want in (
            (9, ["1", "2", "3"]),
            (1, ["2", "3"]),
            (9, ["2", "3"]),
            (1, ["3"]),
            (1, ["3"]),
        ):
            advance(seconds)
            ids = [
                item["id"]
                for item in self.found(
                    self.client.query(docs, "SELECT * FROM c ORDER BY c.id", **A)
                )
            ]
            self.assertEqual(ids, want)
            self.assertEqual(
                self.found(self.client.query(docs, "SELECT VALUE COUNT(1) FROM c", **A)),
                [len(want)],
            )
            self.assertEqual(
                sorted(item["id"] for item in self.found(self.client.send("GET", docs))), want
            )
            self.assertEqual([item["id"] for item in self.changes(docs)[0]], want)
            for name in "123":
                self.assertEqual(
                    self.client.send("GET", f"{docs}/{name}", **A).status,
                    200 if name in want else 404,
                )
        bad = self.client.send("POST", docs, {"id": "4", "pk": "a", "ttl": 0}, **A)
        self.refused(bad, 400, 0, "The input ttl '0' is invalid.")

    def test_addresses_of_direct_mode(self):
        date = email.utils.formatdate(usegmt=True)
        signed = {"x_ms_date": date, "authorization": authorization("GET", "dbs", "", date)}
        answer = self.client.send("GET", "//addresses/?$resolveFor=dbs", **signed)
        self.assertEqual(answer.status, 200)
        addresses = answer.json["Addresss"]
        self.assertEqual([it["isPrimary"] for it in addresses], [True, False])
        self.assertTrue(all(it["physcialUri"].startswith("rntbd://") for it in addresses))


if __name__ == "__main__":
    unittest.main()
