"""The banner on a terminal, in cases in which it could be wrong."""

import os
import pty
import re
import subprocess

import pytest
from lib.server import EBB_BIN


def banner(folder, *flags):
    """Returns the output of a server on a terminal until it is ready."""
    ours, theirs = pty.openpty()
    addresses = ["--mongo-addr", "127.0.0.1:0", "--cosmos-addr", "off", "--admin-addr", "0.0.0.0:0"]
    process = subprocess.Popen(
        [EBB_BIN, "serve", "--data-dir", folder / "data", *addresses, *flags],
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=subprocess.DEVNULL,
    )
    os.close(theirs)
    text = b""
    try:
        while not re.search(rb"ready in [0-9.]+ m?s\r\n$", text):
            # This fails if the server exits before it is ready.
            text += os.read(ours, 4096)
    finally:
        process.kill()
        process.wait(10)
        os.close(ours)
    return text.decode()


@pytest.mark.parametrize(("flags", "is_off"), [([], True), (["--mongo-auth"], False)])
def test_whether_the_portal_is_there(tmp_path, flags, is_off):
    text = banner(tmp_path, *flags)
    assert ("Portal        off: other machines can reach" in text) == is_off
    assert ("requires the key in" in text) != is_off
