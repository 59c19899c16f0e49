"""Extracts the code of a page: one file per fenced block, named by `run=NAME` after its language.

snippets.py PAGE FOLDER writes FOLDER/NAME and prints the names in their order on the page. A block
without a name, or with a duplicate name, is an error: all code on the page is run. With --named as
a third argument, blocks without a name are omitted instead.
"""

import pathlib
import re
import sys

FENCE = re.compile(r"^\s*(`{3,}|~{3,})\s*(.*?)\s*$")


def blocks(page):
    """Yields (line, info string, code) for each fenced block of a page."""
    opened = None
    for number, line in enumerate(page.splitlines(), 1):
        fence = FENCE.match(line)
        if opened is None:
            if fence:
                opened, first, info, code = fence[1], number, fence[2], []
        elif fence and fence[1].startswith(opened) and not fence[2]:
            yield first, info, "".join(code)
            opened = None
        else:
            code.append(line + "\n")
    if opened is not None:
        raise ValueError(f"line {first}: the block is not closed")


def snippets(page, only_named):
    """Returns the code of each block by its name."""
    found = {}
    for line, info, code in blocks(page):
        named = re.fullmatch(r"\w+ run=([a-z][a-z0-9-]*)", info)
        if not named and only_named:
            continue
        if not named:
            raise ValueError(f"line {line}: a block is not named with run=NAME, so no test runs it")
        if named[1] in found:
            raise ValueError(f"line {line}: two blocks are named {named[1]}")
        found[named[1]] = code
    return found


def main(page, folder, *options):
    try:
        found = snippets(pathlib.Path(page).read_text(encoding="utf-8"), "--named" in options)
    except ValueError as error:
        sys.exit(f"{page}: {error}")
    for name, code in found.items():
        (pathlib.Path(folder) / name).write_text(code, encoding="utf-8")
        print(name)


if __name__ == "__main__":
    main(*sys.argv[1:])
