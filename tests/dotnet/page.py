"""Checks that the code on a page is code of the projects here.

page.py PAGE FOLDER prints each block of the page whose lines are not consecutive lines of a file of
the projects below FOLDER, and then fails. Indentation is ignored.
"""

import pathlib
import sys

from snippets import blocks

LANGUAGES = {"csharp": "*.cs", "xml": "*.csproj"}


def stripped(code):
    return "\n".join(line.strip() for line in code.strip().splitlines())


def main(page, folder):
    wrong = []
    for line, language, code in blocks(pathlib.Path(page).read_text(encoding="utf-8")):
        if language not in LANGUAGES:
            wrong.append(f"{page}:{line}: no test has code in the language {language!r}")
            continue
        files = pathlib.Path(folder).rglob(LANGUAGES[language])
        texts = (stripped(file.read_text(encoding="utf-8")) for file in files)
        if not any(stripped(code) in text for text in texts):
            wrong.append(f"{page}:{line}: this code is in no file of {folder}")
    if wrong:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main(*sys.argv[1:])
