"""The ghost matrix: 0 ghosts and 0 early deaths on every path, at every instant, in every state."""

import os
from concurrent.futures import ThreadPoolExecutor

import pytest

from ghosts.deaths import kinds
from ghosts.matrix import INSTANTS, STATES, Matrix
from ghosts.paths import FILLERS, READS, WRITES

#: What the others cover between them runs with --torture only.
LONG = ("unreaped-disk", "reaped-disk", "reaped-restarted")
CHOSEN = [state for state in STATES if os.environ.get("TORTURE") == "1" or state not in LONG]
KINDS = {kind.name: kind for kind in kinds()}
PATHS = [path.name for path in [*READS, *WRITES]]


#: Servers at work at once: they wait for their disks most of the time.
AT_ONCE = 4


@pytest.fixture(scope="module")
def matrices(request):
    """What ran in each (state, kind) that any chosen test asks for."""
    wanted = {}
    for item in request.session.items:
        parameters = getattr(getattr(item, "callspec", None), "params", {})
        if "state" in parameters and "kind" in parameters:
            wanted.setdefault((parameters["state"], parameters["kind"]))
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for state, kind in wanted:
            wanted[state, kind] = pool.submit(Matrix(KINDS[kind], state).run)
        yield lambda state, kind: wanted[state, kind].result()


def test_the_table_has_no_name_twice():
    assert len(set(PATHS)) == len(PATHS)


@pytest.mark.parametrize("state", CHOSEN)
@pytest.mark.parametrize("kind", KINDS)
class TestMatrix:
    """One row is one path through a state and a kind of death, at all instants."""

    @pytest.mark.parametrize("path", PATHS)
    def test_path(self, matrices, state, kind, path):
        cells = matrices(state, kind).cells
        if path.startswith("getMore") and "restart" in state:
            assert (path, 0) not in cells, "a cursor outlived its server"
            return
        found = {instant: cells[path, instant] for instant in INSTANTS}
        assert found == {instant: instant < 0 for instant in INSTANTS}

    def test_data_is_sound(self, matrices, state, kind):
        verified = matrices(state, kind).verified
        if verified is not None:
            assert verified.returncode == 0, verified.stdout + verified.stderr

    def test_reaping_is_what_the_state_says(self, matrices, state, kind):
        deleted = matrices(state, kind).deleted
        assert deleted >= FILLERS if state.startswith("reaped") else deleted == 0
