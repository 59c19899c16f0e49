"""Memory is bounded for every request: the process never exits, uses little more than its account,
and an honest client is served during every bomb, of one attacker and of sixteen.

The ordinary run uses some of them, chosen by the seed; BOMBS is their number (default 12);
--torture runs all of them.
"""

import os

import pytest
from lib.seed import TORTURE

from bombs.field import Field
from bombs.table import selection, table

SOME = int(os.environ.get("BOMBS", "12"))
BOMBS = table() if TORTURE else selection(SOME)
CROWDS = {"alone": 1, "sixteen": 16} if TORTURE else {"sixteen": 16}


@pytest.fixture(scope="module")
def field():
    with Field() as field:
        yield field
        field.leave()
        assert field.server.stop() == 0
        field.server.sound()


def test_there_are_enough():
    assert len(table()) >= 60


@pytest.mark.parametrize("crowd", CROWDS)
@pytest.mark.parametrize("name", BOMBS)
def test_bomb(field, name, crowd):
    problems, answers, took = field.throw(BOMBS[name], CROWDS[crowd])
    assert not problems, f"{problems[:6]} after {took:.1f} s; answers: {answers[:4]}"
