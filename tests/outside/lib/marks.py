"""Cases that many tests have: in memory or on disk, rules that stay or that shift."""

import pytest

ON_DISK = pytest.mark.parametrize("disk", [False, True], ids=["memory", "disk"])
SHIFTING = pytest.mark.parametrize("shifting", [False, True], ids=["settled", "shifting"])
