"""The ghost matrix of items: 0 ghosts and 0 early deaths on every path, instant and state.

The ordinary run deals the kinds of death by SEED: four to each state in memory, two to each on
disk, each kind to at least one. `--torture` runs all of them.
"""

import random

import pytest

from lib.ahead import ahead
from lib.seed import SEED, TORTURE
from nosql.deaths import kinds
from nosql.matrix import INSTANTS, STATES, Matrix, items_of
from nosql.paths import FILLERS, READS, WRITES, Cell
from nosql.paths.shapes import SHAPES
from nosql.paths.table import plain

KINDS = {kind.name: kind for kind in kinds()}
PATHS = [path.name for path in [*READS, *WRITES]]


def dealt():
    """Pairs of state and kind: all kinds from a shuffled deck, in turn to each of the states."""
    if TORTURE:
        return [(state, kind) for state in STATES for kind in KINDS]
    deck = list(KINDS)
    random.Random(f"{SEED} items").shuffle(deck)
    turns = [state for state, (disk, *_) in STATES.items() for _ in range(2 if disk else 4)]
    return [(state, deck[at % len(deck)]) for at, state in enumerate(turns)]


PAIRS = dealt()


@pytest.fixture(scope="module")
def matrices(request):
    """What ran in each (state, kind) that any chosen test asks for."""
    def one(state, kind):
        return Matrix(KINDS[kind], state).run()

    with ahead(request, one, "state", "kind") as run:
        yield run


def test_the_table_has_no_name_twice():
    assert len(set(PATHS)) == len(PATHS)
    assert len({shape.name for shape in SHAPES}) == len(SHAPES)


def test_every_state_and_every_kind_has_its_turn():
    assert len(set(PAIRS)) == len(PAIRS)
    assert {state for state, _ in PAIRS} == set(STATES)
    assert {kind for _, kind in PAIRS} == set(KINDS)


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_every_shape_tells_the_living_from_the_dead(shape):
    for kind in KINDS.values():
        items = items_of(kind, {})
        cell = Cell(None, None, items, None, kind.mortal)
        for scope in (None, "a"):
            alive, dead = (sorted(map(plain, shape.answer(cell.living(life, scope))))
                           for life in (True, False))
            assert alive != dead, (kind.name, scope)


@pytest.mark.parametrize("state, kind", PAIRS)
class TestMatrix:
    """One row is one path through a state and a kind of death, at all instants."""

    @pytest.mark.parametrize("path", PATHS)
    def test_path(self, matrices, state, kind, path):
        cells = matrices(state, kind).cells
        found = {instant: cells[path, instant] for instant in INSTANTS}
        assert found == {instant: instant < 0 for instant in INSTANTS}

    def test_data_is_sound(self, matrices, state, kind):
        verified = matrices(state, kind).verified
        if verified is not None:
            assert verified.returncode == 0, verified.stdout + verified.stderr

    def test_reaping_is_what_the_state_says(self, matrices, state, kind):
        matrix = matrices(state, kind)
        if not state.startswith("reaped"):
            assert matrix.deleted == {}
            assert matrix.verified is None or matrix.dead_entries() >= FILLERS
            return
        assert list(matrix.deleted) == list(INSTANTS)
        for instant, deleted in matrix.deleted.items():
            if instant < 0:
                assert deleted == 0, instant
            else:
                assert deleted >= FILLERS, instant
        assert matrix.verified is None or matrix.dead_entries() == 0
