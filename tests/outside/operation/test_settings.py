"""Variables of other products are read when ours are unset, and those without a meaning here are
named in the log."""

import os
import subprocess

import pytest
from lib.server import EBB_BIN, Server


def printed(variables, *flags):
    """Returns the lines of `ebb serve --print-config` by the name of their setting."""
    line = [EBB_BIN, "serve", "--print-config", *flags]
    clean = {name: value for name, value in os.environ.items() if not name.startswith("EBB_")}
    ran = subprocess.run(
        line, capture_output=True, text=True, timeout=30, env={**clean, **variables}
    )
    assert ran.returncode == 0, ran
    return dict(text.split(" = ", 1) for text in ran.stdout.splitlines())


@pytest.mark.parametrize(
    ("variables", "flags", "setting", "want"),
    [
        ({"PORT": "9"}, [], "cosmos-addr", '"9" # environment PORT'),
        (
            {"PORT": "9", "EBB_COSMOS_ADDR": "off"},
            [],
            "cosmos-addr",
            '"off" # environment EBB_COSMOS_ADDR',
        ),
        ({"PORT": "9"}, ["--cosmos-addr", "off"], "cosmos-addr", '"off" # flag'),
        ({"PORT": ""}, [], "cosmos-addr", '"127.0.0.1:8081" # default'),
        ({"KEY_FILE": "/k"}, [], "key-file", '"/k" # environment KEY_FILE'),
        ({"DATA_PATH": "/d"}, [], "data-dir", '"/d" # environment DATA_PATH'),
        (
            {"GATEWAY_PUBLIC_ENDPOINT": "https://db.example:8081"},
            [],
            "account-endpoint",
            '"https://db.example:8081" # environment GATEWAY_PUBLIC_ENDPOINT',
        ),
        ({}, [], "data-dir", '"./ebb-data" # default'),
    ],
)
def test_where_a_value_comes_from(variables, flags, setting, want):
    assert printed(variables, *flags)[setting] == want


def test_what_means_nothing_is_named(monkeypatch):
    for name in ("PROTOCOL", "EXPLORER_PORT"):
        monkeypatch.setenv(name, "1")
    monkeypatch.setenv("CERT_PATH", "")
    with Server() as server:
        log = server.log.read_text()
    assert "the variable PROTOCOL is ignored" in log
    assert "the variable EXPLORER_PORT is ignored: the portal is at --admin-addr" in log
    assert "CERT_PATH" not in log
