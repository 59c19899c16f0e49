"""Formats the hostile corpus as a page of Markdown: `python -m hostile.page` prints it."""

from hostile.corpus import KINDS
from hostile.entry import STATIONS

HEAD = """# Hostile input

What the server is sent on purpose, and how it has to answer. The classes are those in which
databases and web servers have had holes; the record beside an entry says where, and the entry is
an input of that kind, not somebody's exploit. `tests/outside/run hostile` sends each one to all
of its stations and then checks that

* the answer is the one below, within a second;
* another client is served within a second meanwhile, and the process is the same;
* documents and items that were there before are unchanged;
* the process holds less than 600 MiB;
* the log has one more line at the most (at `info`), and at `trace`, too, none of what was sent,
  no control characters, no line over 4 KiB, and nothing that is not JSON.

A single word holds for all stations. A number alone is an error: MongoDB's, or the status of
HTTP; `write N` is an error of one write, `ok` an ordinary answer: the input is data like any
other, or is ignored. `closed` means that the connection ends without an answer, `N, closed` that
it ends after it. `refused` and `borne` are for HTTP/2: the connection ends with GOAWAY, or goes
on. Errors of the MongoDB API that are not in its manual are those that MongoDB itself gives.

This page is generated from the table of entries (`tests/outside/hostile`) by
`tests/outside/run --hostile-page FILE`. The replies are recorded in `answers.tsv` there.
"""
APIS = {"mongodb": "MongoDB API", "nosql": "NoSQL API", "admin": "Admin address"}


def cell(text):
    """Escapes a text for a table cell."""
    shown = text if text.isprintable() else text.encode("unicode_escape").decode()
    return shown.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*")


def answer(entry):
    """Returns the words of an entry's replies, only one if all are the same."""
    words = list(entry.answers.values())
    return words[0] if len(set(words)) == 1 else " / ".join(words)


def rows(kind, api):
    """Yields the table of one class and API."""
    entries = [entry for entry in kind.entries() if entry.api == api]
    if not entries:
        return
    yield f"\n{APIS[api]}: {' / '.join(STATIONS[api])}\n"
    yield "| | input | answer |\n|---|---|---|"
    for entry in entries:
        known = "" if entry.known == kind.known else f" ({entry.known})"
        yield f"| {entry.id} | {cell(entry.what + known)} | {answer(entry)} |"


def text():
    """Returns the whole page."""
    lines = [HEAD]
    total = sum(len(kind.made) for kind in KINDS)
    lines.append(f"{total:,} entries in {len(KINDS)} classes:\n")
    lines += ["| class | what it is | known from | entries |", "|---|---|---|--:|"]
    for kind in KINDS:
        about = f"| {kind.id} | {kind.title} | {kind.known} | {len(kind.made)} |"
        lines.append(about)
    for kind in KINDS:
        lines.append(f"\n## {kind.id}: {kind.title}\n\n{kind.known}")
        for api in APIS:
            lines += rows(kind, api)
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(text(), end="")
