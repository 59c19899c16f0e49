"""The contents of the packages, and that builds are reproducible."""

import hashlib
import json
import pathlib
import subprocess
import tarfile

from lib.archives import unpack

from install.conftest import make

#: Files that an archive must contain.
WANTED = {
    *("bin/ebb", "README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"),
    *("THIRD-PARTY-LICENCES.txt", "ebb.cdx.json", "systemd/ebb.service", "systemd/ebb.toml"),
    *("share/man/man1/ebb.1", "share/man/man1/ebb-serve.1", "share/man/man1/ebb-backup.1"),
    *("share/bash-completion/completions/ebb", "share/elvish/lib/ebb.elv", "share/ebb/ebb.ps1"),
    *("share/fish/vendor_completions.d/ebb.fish", "share/zsh/vendor-completions/_ebb"),
}


def members(archive):
    """Returns the members of an archive by their paths in its folder."""
    with tarfile.open(archive) as tar:
        return {member.name.partition("/")[2]: member for member in tar if member.isfile()}


def content(archive, path):
    with tarfile.open(archive) as tar:
        return tar.extractfile(members(archive)[path].name).read().decode()


def test_they_are_the_same_each_time(packages, tmp_path, monkeypatch):
    # They depend on neither the caller's settings nor the time of day.
    monkeypatch.setenv("EBB_LOG_LEVEL", "debug")
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    again = make(tmp_path / "again")
    assert {path.name for path in again.folder.iterdir()} == {
        path.name for path in packages.folder.iterdir()
    }
    for path in again.folder.iterdir():
        assert path.read_bytes() == (packages.folder / path.name).read_bytes(), path.name


def test_their_time_is_what_was_told(tmp_path, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1234567890")
    made = make(tmp_path / "told")
    assert {member.mtime for member in members(made.archive).values()} == {1234567890}


def test_the_archive_has_what_it_is_for(packages):
    found = members(packages.archive)
    assert set(found) >= WANTED
    assert found["bin/ebb"].mode == 0o755
    for member in found.values():
        assert (member.uid, member.gid, member.uname) == (0, 0, "root"), member.name
        assert member.mode in (0o644, 0o755), member.name
    assert list(found) == sorted(found)


def test_the_sums_are_those_of_the_packages(packages):
    for sums in packages.folder.glob("SHA256SUMS.*"):
        lines = dict(reversed(line.split("  ")) for line in sums.read_text().splitlines())
        assert set(lines) == {packages.archive.name, packages.debian.name}
        for name, wanted in lines.items():
            content = (packages.folder / name).read_bytes()
            assert hashlib.sha256(content).hexdigest() == wanted


def test_every_part_has_its_licence(packages):
    parts = json.loads(content(packages.archive, "ebb.cdx.json"))["components"]
    texts = content(packages.archive, "THIRD-PARTY-LICENCES.txt")
    named = {line.partition(":")[0].strip() for line in texts.splitlines()}
    ours = {part["version"] for part in parts if part["name"] == "ebb-portal"}
    foreign = [part for part in parts if part["version"] not in ours]
    assert len(foreign) > 200
    for part in foreign:
        name = f"{part['group']}/{part['name']}" if "group" in part else part["name"]
        assert f"{name} {part['version']}" in named
    # Including third-party code inside crates.
    assert "zstd" in texts
    assert "Facebook" in texts
    assert "Permission is hereby granted" in texts


def test_pages_and_completions_show_nothing_of_who_made_them(packages, tmp_path):
    unpack(packages.archive, tmp_path)
    (top,) = tmp_path.iterdir()
    for path in (top / "share").rglob("*"):
        if path.is_file():
            text = path.read_text()
            assert str(pathlib.Path.home()) not in text, path
            assert "EBB_LOG_LEVEL=d" not in text, path


def test_dpkg_reads_the_package(packages):
    def field(name):
        run = ["dpkg-deb", "--field", packages.debian, name]
        ran = subprocess.run(run, check=True, stdout=subprocess.PIPE, text=True)
        return ran.stdout.strip()

    assert field("Package") == "ebb"
    assert "libc6 (>= 2." in field("Depends")
    assert "adduser" in field("Depends")
    sizes = [member.size for member in members(packages.archive).values()]
    assert int(field("Installed-Size")) * 1024 > max(sizes)
    run = ["dpkg-deb", "--info", packages.debian, "conffiles"]
    assert subprocess.run(run, check=True, stdout=subprocess.PIPE).stdout == b"/etc/ebb/ebb.toml\n"


def test_a_binary_of_another_version_is_refused(tmp_path):
    """A build of older sources must not be packaged under the version of newer ones."""
    script = tmp_path / "ebb"
    script.write_bytes(pathlib.Path("/bin/true").read_bytes())
    script.chmod(0o755)
    root = pathlib.Path(__file__).parents[3]
    ran = subprocess.run(
        [root / "deploy/package/run", tmp_path / "none"],
        env={"EBB_BIN": str(script), "PATH": "/usr/bin:/bin", "HOME": str(pathlib.Path.home())},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert ran.returncode == 1
    assert not (tmp_path / "none").exists()
