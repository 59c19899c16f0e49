"""The ghost matrix: 0 ghosts and 0 early deaths on every path, at every instant, in every state."""

import os

import pytest

from ghosts.deaths import kinds
from ghosts.matrix import INSTANTS, STATES, Matrix
from ghosts.paths import FILLERS, READS, WRITES
from lib.ahead import ahead

#: What the others cover between them runs with --torture only.
LONG = ("unreaped-disk", "reaped-disk", "reaped-restarted")
CHOSEN = [state for state in STATES if os.environ.get("TORTURE") == "1" or state not in LONG]
KINDS = {kind.name: kind for kind in kinds()}
PATHS = [path.name for path in [*READS, *WRITES]]



@pytest.fixture(scope="module")
def matrices(request):
    """What ran in each (state, kind) that any chosen test asks for."""
    with ahead(request, lambda state, kind: Matrix(KINDS[kind], state).run(), "state", "kind") as run:
        yield run


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
