"""Where a machine lets nobody mount file systems, as some containers do, what needs them is left
out, and the run says so."""

import pathlib

import pytest

from power.disk import KINDS, works

HERE = pathlib.Path(__file__).parent


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    asked = [it for it in items if HERE in it.path.parents and hasattr(it, "callspec")]
    wanted = {it: it.callspec.params.get("kind") for it in asked}
    missing = {kind for kind in set(wanted.values()) & KINDS.keys() if not works(kind)}
    out = [it for it in items if wanted.get(it) in missing]
    if out:
        print(f"\nthis machine mounts no {' and no '.join(sorted(missing))}: {len(out)} do not run")
        config.hook.pytest_deselected(items=out)
        items[:] = [it for it in items if it not in out]
