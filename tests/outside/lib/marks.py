"""Parameters that many tests share: in memory or on disk, rules that stay or that change."""

import pytest

ON_DISK = pytest.mark.parametrize("disk", [False, True], ids=["memory", "disk"])
SHIFTING = pytest.mark.parametrize("shifting", [False, True], ids=["settled", "shifting"])
