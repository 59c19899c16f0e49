"""Released memory is returned to the system, also while the server is idle."""

import time

from bombs.attack import PATIENCE, throw
from bombs.field import LEFTOVER, SETTLED, Field
from bombs.table import table

#: Documents of 16 MB, created and dropped by sixteen clients at once.
BOMB = "pipeline many stages"


def test_memory_goes_back_to_the_system():
    with Field() as field:
        field.leave()
        for _ in range(3):
            problems, _ = throw(field.server, table()[BOMB], 16)
            assert not problems
        # From here on there are no requests.
        until = time.monotonic() + SETTLED * PATIENCE
        while (left := field.server.rss() - field.rest) > LEFTOVER and time.monotonic() < until:
            time.sleep(0.05)
        assert left <= LEFTOVER, f"{left >> 20} MB more than at rest"
