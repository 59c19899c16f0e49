"""The corpus is complete, and the page that is generated from it has every entry."""

from hostile.corpus import ENTRIES, KINDS
from hostile.entry import ANSWERS, written
from hostile.page import answer, cell, text


def test_all_classes_are_there():
    assert [kind.id for kind in KINDS] == [f"B{number}" for number in range(1, 26)]
    assert all(len(kind.made) >= 10 for kind in KINDS)


def test_each_answer_is_of_one_entry():
    asked = [(kind.id, made.what) for kind in KINDS for made in kind.made]
    assert len(set(asked)) == len(asked), "two entries of a class have one name"
    assert list(written()) == asked, f"{ANSWERS} has other entries, or in another order"


def test_every_entry_has_a_record():
    assert all(entry.known for entry in ENTRIES)


def test_the_page_has_a_row_for_each_entry():
    rows = [line for line in text().splitlines() if line.startswith("| B") and "." in line[:8]]
    assert len(rows) == len(ENTRIES)
    for row, entry in zip(rows, sorted_as_printed(), strict=True):
        assert row.startswith(f"| {entry.id} | {cell(entry.what)}")
        assert row.endswith(f"| {answer(entry)} |")


def sorted_as_printed():
    """Returns the entries by class, and within a class by API."""
    apis = ["mongodb", "nosql", "admin"]
    return [entry for kind in KINDS for api in apis for entry in kind.entries() if entry.api == api]
