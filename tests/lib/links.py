#!/usr/bin/env python3
"""Checks that links in all pages of the repository lead somewhere: files, pictures and headings.

links.py [ROOT] reads every tracked *.md, prints each link that leads nowhere, and then fails. It asks
no network: addresses of other sites are left alone.
"""

import pathlib
import re
import subprocess
import sys
from urllib.parse import unquote

FENCED = re.compile(r"^ {0,3}(`{3,}|~{3,})[^\n]*\n.*?^ {0,3}\1[`~]*[ \t]*$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)", re.DOTALL)
INLINE = re.compile(r"\]\(\s*<?([^\s<>()]*(?:\([^\s()]*\)[^\s<>()]*)*)>?(?:\s+\"[^\"]*\")?\s*\)")
DEFINED = re.compile(r"^ {0,3}\[[^\]]+\]:\s*<?(\S+?)>?(?:\s+\"[^\"]*\")?\s*$", re.MULTILINE)
HEADING = re.compile(r"^ {0,3}#{1,6}\s+(.*?)\s*#*$", re.MULTILINE)
ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:|//")


def blanked(pattern, text):
    """The text with its line ends alone where the pattern matches, so that lines keep their numbers."""
    return pattern.sub(lambda match: "\n" * match[0].count("\n"), text)


def anchors(text):
    """The anchors that GitHub gives the headings of a page."""
    seen, found = {}, set()
    for heading in HEADING.findall(blanked(FENCED, text)):
        heading = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading)  # a link is its text
        slug = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        count = seen.get(slug, 0)
        seen[slug] = count + 1
        found.add(f"{slug}-{count}" if count else slug)
    return found


def links(text):
    """Yields (line, target) of each link and picture of a page."""
    prose = blanked(CODE, blanked(FENCED, text))
    for pattern in (INLINE, DEFINED):
        for match in pattern.finditer(prose):
            yield prose.count("\n", 0, match.start(1)) + 1, match[1]


def dead(page, root):
    """Yields (line, target, reason) of each link of a page that leads nowhere."""
    for line, target in links(page.read_text(encoding="utf-8")):
        if ELSEWHERE.match(target):
            continue
        path, _, anchor = unquote(target).partition("#")
        found = (root / path.lstrip("/") if path.startswith("/") else page.parent / path) if path else page
        if not found.exists():
            yield line, target, "there is no such file"
        elif root not in [found.resolve(), *found.resolve().parents]:
            yield line, target, "it is outside of the repository"
        elif anchor and found.suffix == ".md" and anchor not in anchors(found.read_text(encoding="utf-8")):
            yield line, target, "there is no such heading"


def main(root="."):
    root = pathlib.Path(root).resolve()
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"],
        cwd=root,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.split("\n")
    pages = [root / name for name in listed if name and (root / name).exists()]
    count = 0
    for page in pages:
        for line, target, reason in dead(page, root):
            print(f"{page.relative_to(root)}:{line}: {target}: {reason}", file=sys.stderr)
            count += 1
    if not pages or count:
        sys.exit(f"{count} dead links in {len(pages)} pages")
    print(f"all links of {len(pages)} pages lead somewhere")


if __name__ == "__main__":
    main(*sys.argv[1:])
