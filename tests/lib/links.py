#!/usr/bin/env python3
"""Checks the links of the repository's pages: links, pictures, headings, names of files.

links.py [ROOT] reads every tracked *.md, prints each broken link and each named file of this
repository that does not exist, and then fails. It uses no network: addresses of other sites are
ignored.
"""

import pathlib
import re
import subprocess
import sys
from urllib.parse import unquote

FENCED = re.compile(
    r"^ {0,3}(`{3,}|~{3,})[^\n]*\n.*?^ {0,3}\1[`~]*[ \t]*$", re.MULTILINE | re.DOTALL
)
CODE = re.compile(r"(`+)(?!`)(.*?)(?<!`)\1(?!`)", re.DOTALL)
INLINE = re.compile(r"\]\(\s*<?([^\s<>()]*(?:\([^\s()]*\)[^\s<>()]*)*)>?(?:\s+\"[^\"]*\")?\s*\)")
DEFINED = re.compile(r"^ {0,3}\[[^\]]+\]:\s*<?(\S+?)>?(?:\s+\"[^\"]*\")?\s*$", re.MULTILINE)
HEADING = re.compile(r"^ {0,3}#{1,6}\s+(.*?)\s*#*$", re.MULTILINE)
ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:|//")
# A path in code refers to this repository if it ends like its sources or starts with one of its
# folders.
PATH = re.compile(
    r"[\w.{},*-]+(?:/[\w.{},*-]+)+\.(?:rs|py|sh|ts|tsx|js|md|toml|txt|css)"
    r"|(?:bench|crates|docs|tests|web|xtask)/[\w.{},*/-]*"
)
BRACES = re.compile(r"\{([^{}]*)\}")


def blanked(pattern, text):
    """Replaces matches by their line ends, so that lines keep their numbers."""
    return pattern.sub(lambda match: "\n" * match[0].count("\n"), text)


def anchors(text):
    """Returns the anchors that GitHub gives the headings of a page."""
    seen, found = {}, set()
    for heading in HEADING.findall(blanked(FENCED, text)):
        heading = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading)  # a link is its text
        slug = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        count = seen.get(slug, 0)
        seen[slug] = count + 1
        found.add(f"{slug}-{count}" if count else slug)
    return found


def line_of(text, at):
    return text.count("\n", 0, at) + 1


def links(text):
    """Yields (line, target) of each link and picture of a page."""
    prose = blanked(CODE, blanked(FENCED, text))
    for pattern in (INLINE, DEFINED):
        for match in pattern.finditer(prose):
            yield line_of(prose, match.start(1)), match[1]


def dead_links(page, text, root):
    """Yields (line, target, reason) of each broken link of a page."""
    for line, target in links(text):
        if ELSEWHERE.match(target):
            continue
        path, _, anchor = unquote(target).partition("#")
        base = root if path.startswith("/") else page.parent
        found = base / path.lstrip("/") if path else page
        if not found.exists():
            yield line, target, "there is no such file"
        elif root not in [found.resolve(), *found.resolve().parents]:
            yield line, target, "it is outside of the repository"
        elif anchor and found.suffix == ".md" and anchor not in anchors(found.read_text("utf-8")):
            yield line, target, "there is no such heading"


def expanded(path):
    """Returns the paths that `a/{b,c}.rs` expands to."""
    braces = BRACES.search(path)
    if not braces:
        return [path]
    parts = [path[: braces.start()] + one + path[braces.end() :] for one in braces[1].split(",")]
    return [whole for part in parts for whole in expanded(part)]


def missing_files(text, files):
    """Yields (line, path, reason) of each file or folder that is named in code but does not exist.
    A path may be partial: `commands/table.rs` matches every file whose path ends with it.
    """
    prose = blanked(FENCED, text)
    for match in CODE.finditer(prose):
        if not PATH.fullmatch(match[2]):
            continue
        for path in expanded(match[2]):
            ending = re.escape(path.rstrip("/")).replace(r"\*", r"[^/]*")
            if not re.search(rf"^(?:.*/)?{ending}(?:/|$)", files, re.MULTILINE):
                yield line_of(prose, match.start()), path, "there is no such file"


def main(root="."):
    root = pathlib.Path(root).resolve()
    files = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=root,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    pages = [root / name for name in files.split("\n") if name.endswith(".md")]
    count = 0
    for page in filter(pathlib.Path.exists, pages):
        text = page.read_text(encoding="utf-8")
        for line, target, reason in [*dead_links(page, text, root), *missing_files(text, files)]:
            print(f"{page.relative_to(root)}:{line}: {target}: {reason}", file=sys.stderr)
            count += 1
    if not pages or count:
        sys.exit(f"{count} dead links in {len(pages)} pages")
    print(f"all links of {len(pages)} pages lead somewhere")


if __name__ == "__main__":
    main(*sys.argv[1:])
