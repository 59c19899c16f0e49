"""The packages of the binary under test, and a fresh Debian to install them into."""

import os
import pathlib
import subprocess
from types import SimpleNamespace

import pytest
from lib import needs
from lib.server import EBB_BIN

from install.debian import Debian

ROOT = pathlib.Path(__file__).parents[3]


def make(folder):
    """Runs `deploy/package/run`, and returns the packages it has made."""
    environment = os.environ | {"EBB_BIN": str(EBB_BIN)}
    run = [ROOT / "deploy/package/run", folder]
    subprocess.run(run, check=True, env=environment, stdout=subprocess.DEVNULL)
    return SimpleNamespace(
        folder=folder,
        archive=next(folder.glob("ebb-*-linux.tar.gz")),
        debian=next(folder.glob("ebb_*.deb")),
    )


@pytest.fixture(scope="session")
def packages(tmp_path_factory):
    return make(tmp_path_factory.mktemp("packages"))


def newer(package, folder):
    """Returns the same package as a later version with other default settings."""
    subprocess.run(["dpkg-deb", "--raw-extract", package, folder / "newer"], check=True)
    control = folder / "newer/DEBIAN/control"
    changed = [
        "Version: 9.0" if line.startswith("Version:") else line
        for line in control.read_text().splitlines()
    ]
    control.write_text("\n".join(changed) + "\n")
    with open(folder / "newer/etc/ebb/ebb.toml", "a") as settings:
        settings.write("# newer\n")
    build = ["dpkg-deb", "--root-owner-group", "-Zgzip", "-z1", "--build", folder / "newer"]
    subprocess.run([*build, folder / "shared/newer.deb"], check=True, stdout=subprocess.DEVNULL)


@pytest.fixture(scope="session")
def debian(request, tmp_path_factory):
    """A machine that has the packages in /run/host."""
    needs.root("a Debian of its own")
    packages = request.getfixturevalue("packages")
    folder = tmp_path_factory.mktemp("debian")
    shared = folder / "shared"
    shared.mkdir()
    (shared / "ebb.deb").write_bytes(packages.debian.read_bytes())
    (shared / "ebb.tar.gz").write_bytes(packages.archive.read_bytes())
    newer(packages.debian, folder)
    find = ". tests/lib/languages.sh; need_debian && echo $DEBIAN_ROOT"
    cache = f"cache=${{XDG_CACHE_HOME:-$HOME/.cache}}/ebb-tests; mkdir -p $cache; {find}"
    ran = subprocess.run(
        ["bash", "-ec", cache], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True
    )
    machine = Debian(ran.stdout.strip(), folder, shared)
    try:
        yield machine
    finally:
        machine.close()
