"""Skips the tests of power cuts where their file system cannot be mounted, as in some containers,
or without root."""

import pathlib

import pytest
from lib import needs

from power.disk import KINDS, works

HERE = pathlib.Path(__file__).parent


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    asked = [it for it in items if HERE in it.path.parents and hasattr(it, "callspec")]
    wanted = {it: it.callspec.params.get("kind") for it in asked}
    missing = {kind for kind in set(wanted.values()) & KINDS.keys() if not works(kind)}
    for kind in missing:
        out = [item for item, of in wanted.items() if of == kind]
        needs.skip(out, f"no {kind} can be mounted here")
