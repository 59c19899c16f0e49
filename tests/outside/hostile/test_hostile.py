"""Every entry of the hostile corpus at every station: its reply, and no other effect."""

import pytest

from hostile.attacked import Attacked
from hostile.corpus import ENTRIES
from hostile.entry import STATIONS


@pytest.fixture(scope="module", params=[True, False], ids=["logins", "open"])
def attacked(request):
    with Attacked(request.param) as attacked:
        yield attacked
        attacked.leave()


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.id)
def test_entries(attacked, entry):
    for station, guarded in STATIONS[entry.api].items():
        if guarded != attacked.guarded:
            continue
        with attacked.undisturbed():
            said = attacked.send(entry, station)
        assert said in entry.answers[station].split(" or "), f"{entry.what}, {station}: {said}"
        attacked.health()
