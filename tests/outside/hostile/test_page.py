"""The corpus is complete, and the page about it is up to date."""

import os

from hostile.corpus import ENTRIES, KINDS
from hostile.entry import ANSWERS, written
from hostile.page import PAGE, text


def test_all_classes_are_there():
    assert [kind.id for kind in KINDS] == [f"B{number}" for number in range(1, 26)]
    assert all(len(kind.made) >= 10 for kind in KINDS)


def test_each_answer_is_of_one_entry():
    asked = [(kind.id, made.what) for kind in KINDS for made in kind.made]
    assert len(set(asked)) == len(asked), "two entries of a class have one name"
    assert list(written()) == asked, f"{ANSWERS} has other entries, or in another order"


def test_every_entry_has_a_record():
    assert all(entry.known for entry in ENTRIES)


def test_the_page_is_what_the_table_says():
    if os.environ.get("EBB_UPDATE") == "1":
        PAGE.write_text(text())
    assert PAGE.read_text() == text(), (
        "print it again: EBB_UPDATE=1 tests/outside/run hostile -k page"
    )
