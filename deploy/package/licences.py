"""The texts of the licences of everything that is linked into the binary or is in its portal,
each once, with the parts that it is of. Which parts there are says the list of parts, deploy/sbom.
"""

import pathlib
import re

#: What files of licences and notices are called.
NAME = re.compile(r"^(licen[cs]e|copying|copyright|notice|unlicense)\b", re.IGNORECASE)
RULE = "=" * 80
HEAD = """\
EbbDB is under the MIT licence or the Apache License 2.0, as you choose: see LICENSE-MIT and
LICENSE-APACHE, or the file `copyright`.
Its binary has parts that others made, under licences of their own. This file has the texts that
they come with. The list of all parts with versions and licences is beside it, ebb.cdx.json.
Rust's standard library, which is in the binary too, is under MIT or Apache-2.0 as well.
"""


def texts_in(folder):
    """The texts of licences in the folder of a part, its own and those of what it contains."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and NAME.match(path.name))
    # A module of code may be called by such a word, too; packages inside are parts themselves.
    wanted = [path for path in files if path.suffix in ("", ".md", ".txt") or known(path)]
    inside = [path for path in wanted if "node_modules" not in path.relative_to(folder).parts]
    return [path.read_text(encoding="utf-8", errors="replace").strip() for path in inside]


def known(path):
    """Whether what looks like an ending belongs to the name: LICENSE.BSD-3-Clause, LICENSE-2.0."""
    return path.suffix[1:2].isupper() or path.suffix[1:2].isdigit() or path.suffix == ".httprouter"


def folders_of_crates(crates, about):
    """The folders of the crates that come from a registry."""
    foreign = [crate for crate in crates if about[crate]["source"]]
    return {
        f"{name} {version}": (
            pathlib.Path(about[name, version]["manifest_path"]).parent,
            about[name, version]["license"],
        )
        for name, version in foreign
    }


def folders_of_packages(packages, modules):
    """The folders of the portal's packages, where npm has put them."""
    found = {}
    for package in packages:
        name = f"{package.group}/{package.name}" if package.group else package.name
        folder = modules / name
        if not folder.exists():
            raise FileNotFoundError(f"{folder} is not there: run `npm ci` in web")
        licence = sorted(getattr(it, "value", None) or it.id or it.name for it in package.licenses)
        found[f"{name} {package.version}"] = (folder, " AND ".join(licence))
    return found


def document(folders):
    """The file, for folders and licences by part."""
    parts_of, without = {}, []
    for part, (folder, licence) in sorted(folders.items()):
        texts = texts_in(folder)
        if not texts:
            without.append(f"  {part}: {licence}")
        for text in texts:
            parts_of.setdefault(text, {})[part] = licence
    written = [HEAD]
    if without:
        written += ["These come without a text, and say that their licence is:", *without, ""]
    for text, parts in sorted(parts_of.items(), key=lambda it: list(it[1])):
        written += [
            RULE,
            *(f"{part}: {licence}" for part, licence in parts.items()),
            RULE,
            text,
            "",
        ]
    return "\n".join(written)
