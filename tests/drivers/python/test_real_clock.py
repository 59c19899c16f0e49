"""The one test on the machine's own clock, against a server of its own."""

import os
import time

from pymongo import MongoClient


def test_real_clock_a_ttl_of_one_second():
    with MongoClient(os.environ["EBB_SYSTEM_URI"]) as client:
        coll = client["python_real_clock"]["coll"]
        coll.create_index("_ts", expireAfterSeconds=3600)
        started = time.monotonic()
        coll.insert_one({"_id": 1, "ttl": 1})
        coll.insert_one({"_id": 2})
        while coll.find_one({"_id": 1}) is not None:
            assert time.monotonic() < started + 10, "still there after ten seconds"
            time.sleep(0.02)
        assert coll.count_documents({}) == coll.estimated_document_count() == 1
        assert coll.distinct("_id") == [2]
        coll.insert_one({"_id": 1})
