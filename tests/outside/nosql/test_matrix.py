"""The ghost matrix of items: no ghosts and no early expirations on every path, instant and state.
The ordinary run assigns the kinds of expiry by SEED: four to each state in memory, two to each on
disk, each kind to at least one. `--torture` runs all of them.
"""

import pytest
from lib import prefetch
from lib.matrix import INSTANTS, Left, all_are_dealt, dealt

from nosql.expiry_kinds import kinds
from nosql.matrix import Matrix, items_of
from nosql.paths import READS, WRITES, Cell
from nosql.paths.shapes import SHAPES
from nosql.paths.table import plain

KINDS = {kind.name: kind for kind in kinds()}
PATHS = [path.name for path in [*READS, *WRITES]]


PAIRS = dealt(KINDS, " items")
matrices = prefetch.fixture(lambda state, kind: Matrix(KINDS[kind], state).run(), "state", "kind")


def test_the_table_has_no_name_twice():
    assert len(set(PATHS)) == len(PATHS)
    assert len({shape.name for shape in SHAPES}) == len(SHAPES)


def test_every_state_and_every_kind_has_its_turn():
    all_are_dealt(PAIRS, KINDS)


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_every_shape_tells_the_living_from_the_dead(shape):
    for kind in KINDS.values():
        items = items_of(kind, {})
        cell = Cell(None, None, items, None, kind.mortal)
        for scope in (None, "a"):
            alive, dead = (
                sorted(map(plain, shape.answer(cell.living(life, scope)))) for life in (True, False)
            )
            assert alive != dead, (kind.name, scope)


@pytest.mark.parametrize(("state", "kind"), PAIRS)
class TestMatrix(Left):
    """One test is one path with one state and kind of expiry, at all instants."""

    @pytest.mark.parametrize("path", PATHS)
    def test_path(self, matrices, state, kind, path):
        cells = matrices(state, kind).cells
        found = {instant: cells[path, instant] for instant in INSTANTS}
        assert found == {instant: instant < 0 for instant in INSTANTS}
