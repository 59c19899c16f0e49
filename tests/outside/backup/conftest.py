"""Where a machine lets nobody mount file systems, what needs that is left out, and the run says
so."""

import pytest
from faults.conftest import mounts


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    wanted = [item for item in items if item.path.name == "test_full_target.py"]
    if wanted and not mounts():
        print(f"\nthis machine has no mounts: {len(wanted)} tests do not run")
        config.hook.pytest_deselected(items=wanted)
        items[:] = [item for item in items if item not in wanted]
