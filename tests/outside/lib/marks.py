"""Parameters that many tests share: in memory or on disk, with fixed or changing TTL settings."""

import pytest

ON_DISK = pytest.mark.parametrize("disk", [False, True], ids=["memory", "disk"])
SHIFTING = pytest.mark.parametrize("shifting", [False, True], ids=["settled", "shifting"])
