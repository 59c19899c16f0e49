"""Makes the packages of ebb: for each kind of machine an archive, a Debian package and the sums of
both. `run` beside it says how it is called."""

import argparse
import hashlib
import os
import pathlib
import subprocess
import sys
import tomllib

import build
from binary import Binary
from contents import ROOT, Contents

sys.path.insert(0, str(ROOT / "deploy" / "sbom"))

import licences
import sbom

#: Kinds of machines that packages are for, this one's first.
TARGETS = sorted(
    (f"{machine}{build.SUFFIX}" for machine in ("x86_64", "aarch64")),
    key=lambda target: target != build.own_target(),
)


def time_of_packages():
    """The time of everything in the packages, which is that of the sources."""
    if told := os.environ.get("SOURCE_DATE_EPOCH"):
        return int(told)
    try:
        return int(build.printed("git", "-C", str(ROOT), "log", "-1", "--format=%ct"))
    except (OSError, subprocess.CalledProcessError):
        sys.exit("the sources have no commit to take the time from: set SOURCE_DATE_EPOCH")


def version_of_sources():
    return tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]


def binaries(wanted, named):
    """The binaries by target; why there is none is said, and is an error where it was asked for."""
    if named:
        made = Binary(named)
        return {f"{made.architecture}{build.SUFFIX}": made}
    found = {}
    for target in wanted or TARGETS:
        if why := build.why_not(target):
            print(f"no packages for {target}: {why}", file=sys.stderr)
            if wanted:
                sys.exit(1)
        else:
            found[target] = Binary(build.built(target))
    return found


def texts(target, modules):
    """The list of parts, and the texts of their licences."""
    bom = sbom.list_of_parts(target)
    packages = [it for it in bom.components if it.purl.type == "npm" and it.name != "ebb-portal"]
    folders = licences.folders_of_crates(sbom.crates(target), sbom.about_crates(target))
    folders |= licences.folders_of_packages(packages, modules)
    return sbom.text_of(bom), licences.document(folders)


def write(contents, folder):
    """Writes the packages of one kind of machine, and prints where they are."""
    folder.mkdir(parents=True, exist_ok=True)
    sums = []
    for name, content in (contents.archive(), contents.debian()):
        (folder / name).write_bytes(content)
        sums.append(f"{hashlib.sha256(content).hexdigest()}  {name}\n")
        print(folder / name)
    (folder / f"SHA256SUMS.{contents.made.architecture}").write_text("".join(sums))


def made(typed):
    """Makes the packages, as asked for."""
    binaries_of = binaries(typed.target, os.environ.get("EBB_BIN"))
    # Pages and completions are the same for every kind of machine.
    speaks = next((it for it in binaries_of.values() if it.can_run()), None)
    if speaks is None:
        sys.exit("none of the binaries can run here, to print manual pages: build one for here too")
    version = version_of_sources()
    said = speaks.prints("--version").decode().split()[-1]
    if said != version:
        sys.exit(f"{speaks.path} is version {said}, the sources are {version}: build it again")
    when = time_of_packages()
    for target, binary in binaries_of.items():
        listed, of_parts = texts(target, typed.node_modules)
        write(Contents(binary, speaks, version, listed, of_parts, when), typed.folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--node-modules", type=pathlib.Path, required=True)
    parser.add_argument("--target", action="append", help="a kind of machine [all that can be]")
    parser.add_argument("folder", type=pathlib.Path, nargs="?", default=ROOT / "target/package")
    typed = parser.parse_args()
    try:
        made(typed)
    except (OSError, ValueError, subprocess.CalledProcessError) as error:
        sys.exit(f"no packages: {error}")


if __name__ == "__main__":
    main()
