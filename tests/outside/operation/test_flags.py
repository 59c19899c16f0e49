"""The table of settings in docs/operations.md against `ebb serve --help`: every flag is in both,
has a variable of its name, and the same default."""

import re
import subprocess

import pytest
from lib.server import EBB_BIN

from operation.page import PAGE

FLAG = re.compile(r"^ +(?:-h, )?--([\w-]+)[^\n]*\n +([^\n]*)$", re.MULTILINE)
#: Flags that are not settings, and so have no variable.
ACTIONS = {"help", "print-config"}
#: Defaults that the page describes in words, since they depend on other settings.
IN_WORDS = {"per-document-ttl": "else on"}


def of_help():
    """Returns the help of each flag by its name."""
    command = [EBB_BIN, "serve", "--help"]
    text = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout
    found = dict(FLAG.findall(text))
    assert len(found) > 40
    return found


def of_page():
    """Returns the column of defaults by the name of a flag; a row may have several flags."""
    text = PAGE.read_text()
    tables = text[text.index("\n## Settings\n") : text.index("\n### Completions\n")]
    found = {}
    for line in tables.splitlines():
        if line.startswith("| `--"):
            names, default = line.replace("\\|", "/").split("|")[1:3]
            found |= dict.fromkeys(re.findall(r"--([\w-]+)", names), default)
    return found


@pytest.fixture(scope="module")
def helped():
    return of_help()


def test_every_flag_is_on_the_page_and_no_other(helped):
    assert set(of_page()) == set(helped) - {"help"}


def test_every_flag_has_the_variable_of_its_name(helped):
    for name in set(helped) - ACTIONS:
        variable = f"EBB_{name.upper().replace('-', '_')}"
        assert f"[env: {variable}=" in helped[name], name


def test_defaults_are_those_of_the_page(helped):
    page = of_page()
    told = 0
    for name, text in helped.items():
        if default := re.search(r"\[default: ([^\]]+)\]", text):
            # For several flags, a row has the address once and otherwise only the ports.
            switch = {"false": "off", "true": "on"}
            wanted = switch.get(default[1], default[1].removeprefix("127.0.0.1"))
            assert IN_WORDS.get(name, wanted) in page[name], name
            told += 1
    assert told > 15
