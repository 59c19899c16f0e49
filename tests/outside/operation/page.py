"""The commands of docs/operations.md, block by block, and the user of each."""

import dataclasses
import pathlib
import re

ROOT = pathlib.Path(__file__).parents[3]
PAGE = ROOT / "docs" / "operations.md"
LINE = re.compile(r"^(#{1,6}) ([^\n]*)$|^```(\w*)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
#: The part that an ordinary user executes.
OF_TOM = ("Install", "A first start")
#: The heading at which the reference starts.
REFERENCE = "Settings"
#: The server of the reference, as the page says before its first example.
OF_REFERENCE = "ebb serve --backup-journal 10g"
#: Blocks that are not executed, by their first line, and why.
LEFT_OUT = {
    "mongosh 'mongodb://localhost/?tls=true&authMechanism=MONGODB-X509' \\": (
        "needs a server that asks for certificates: access/test_tls.py has one"
    ),
    "ebb serve --otlp-endpoint http://localhost:4318": "needs a build with --features otlp",
    "ebb export -d shop -c orders --out orders.json": (
        "needs other machines and their data: export/ tests each of them"
    ),
    "mongodump --uri mongodb://127.0.0.1:27017 --out dump": (
        "no package manager that the tests use has MongoDB's tools"
    ),
    "just package": "builds everything: install/ does it with a binary that is there",
    "tar xzf ebb-0.1.0-x86_64-linux.tar.gz": "install/ runs it on a machine without the sources",
    "apt install ./ebb_0.1.0_amd64.deb": "install/ does it on a fresh Debian",
    "docker build -t ebb:0.1.0 .": "there is no Docker; deploy/tests look at the Dockerfile",
}


@dataclasses.dataclass
class Block:
    """The contents of a fenced block."""

    heading: str
    language: str
    text: str

    def first_line(self):
        return self.text.splitlines()[0]


def blocks():
    """Returns all blocks of the page in order, each with the nearest heading before it."""
    found, heading = [], ""
    for match in LINE.finditer(PAGE.read_text()):
        if match[1]:
            heading = match[2]
        else:
            found.append(Block(heading, match[3], match[4]))
    return found


def parts():
    """Returns the command blocks of the guide, and those of the reference."""
    first, second = [], []
    in_reference = False
    for block in blocks():
        in_reference = in_reference or block.heading == REFERENCE
        if block.language == "sh" and block.first_line() not in LEFT_OUT:
            (second if in_reference else first).append(block)
    return first, second
