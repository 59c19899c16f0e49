"""docs/operations.md as a new operator follows it: every command of the page is typed on a machine
of its own, in the order of the page, by the intended user. The output is as the page describes."""

import re

import pytest

from operation.conftest import Gone
from operation.machine import TOM
from operation.page import LEFT_OUT, OF_REFERENCE, PAGE, blocks, parts


@pytest.fixture(scope="module")
def looked_up(walked):
    """The same machine, on which the commands of the reference were executed, too."""
    gone = Gone(walked.machine)
    gone.prepare("systemctl stop ebb")
    walked.machine.become(TOM)
    ready = "until curl -sf http://127.0.0.1:8080/readyz; do sleep 0.1; done"
    gone.prepare(f"{OF_REFERENCE} & {ready}")
    for block in parts()[1]:
        gone.through(block)
    gone.prepare("kill %1 && wait %1")
    gone.printed["as it was"] = walked.machine.run("ebb verify --data-dir as-it-was")[0]
    walked.machine.leave()
    gone.prepare("systemctl start ebb")
    return gone


def test_every_command_of_the_way_works(walked):
    assert not walked.failed, "\n".join(walked.failed)


def test_the_way_leads_where_the_page_says(walked):
    printed = walked.printed
    assert "0 problems, 0 warnings" in printed["Self-check"]
    assert "ann@admin: root@admin\nshop@admin: readWrite@shop" in printed["The first users"]
    assert "acknowledged: true" in printed["The first users"]
    assert "Verification: OK" in printed["The first users"]
    backups = printed["Backups and a drill"]
    assert "2 of them follow each other" in backups
    assert "shop.carts: 1 document, 0 differences" in backups, "the drill"
    assert re.search(r"SUCCESS: \d+ rules found", printed["Metrics and alerts"])
    assert "0 problems, 0 warnings" in printed["Upgrades"]
    wrong = printed["When something is wrong"]
    assert "ebb.service: active" in wrong
    assert "lines verified" in wrong


def test_every_command_of_the_reference_works(looked_up):
    assert not looked_up.failed, "\n".join(looked_up.failed)
    # The instant was between two writes.
    assert "shop.carts: 2 documents, 0 differences" in looked_up.printed["as it was"]


def test_what_is_left_out_is_on_the_page():
    assert set(LEFT_OUT) <= {block.first_line() for block in blocks() if block.language == "sh"}
    first, second = parts()
    assert first
    assert second
    assert f"`{OF_REFERENCE}`" in PAGE.read_text()


def test_judges_see_a_command_that_fails(walked):
    printed, failed = walked.machine.run("true\nls /nowhere\ntrue\n")
    assert failed == "ls /nowhere"
    assert "/nowhere" in printed
