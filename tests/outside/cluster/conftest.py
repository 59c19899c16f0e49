"""These tests need Apache Cassandra: without it only the tests of the checks run."""

import os

if not os.environ.get("EBB_CASSANDRA"):
    collect_ignore_glob = ["test_[!o]*.py"]
