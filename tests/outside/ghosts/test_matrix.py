"""The ghost matrix: 0 ghosts and 0 early deaths on every path, at every instant, in every state."""

import functools

import pytest

from ghosts.deaths import kinds
from ghosts.matrix import INSTANTS, STATES, Matrix
from ghosts.paths import READS, WRITES

KINDS = {kind.name: kind for kind in kinds()}
PATHS = [path.name for path in [*READS, *WRITES]]


@functools.cache
def matrix(state, kind):
    return Matrix(KINDS[kind], state).run()


def test_the_table_has_no_name_twice():
    assert len(set(PATHS)) == len(PATHS)


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("kind", KINDS)
class TestMatrix:
    """One row is one path through a state and a kind of death, at all instants."""

    @pytest.mark.parametrize("path", PATHS)
    def test_path(self, state, kind, path):
        cells = matrix(state, kind).cells
        if path.startswith("getMore") and "restart" in state:
            assert (path, 0) not in cells, "a cursor outlived its server"
            return
        found = {instant: cells[path, instant] for instant in INSTANTS}
        assert found == {instant: instant < 0 for instant in INSTANTS}

    def test_data_is_sound(self, state, kind):
        verified = matrix(state, kind).verified
        if verified is not None:
            assert verified.returncode == 0, verified.stdout + verified.stderr

    def test_reaping_is_what_the_state_says(self, state, kind):
        deleted = matrix(state, kind).deleted
        if "restart" not in state:
            assert (deleted > 0) == ("reap" in state.split("-")[0] and state.startswith("reaped"))
