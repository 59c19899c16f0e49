"""What is in the packages: where the parts of ebb go in the archive, and on a system of Debian. How
the formats are written is in archives.py."""

import hashlib
import pathlib

from archives import File, ar_of, compressed, tar_of, text

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
DEPLOY = ROOT / "deploy"
#: Where a shell looks for the completions of others' programs; elsewhere people load them.
COMPLETIONS = {
    "bash": "share/bash-completion/completions/ebb",
    "elvish": "share/elvish/lib/ebb.elv",
    "fish": "share/fish/vendor_completions.d/ebb.fish",
    "powershell": "share/ebb/ebb.ps1",
    "zsh": "share/zsh/vendor-completions/_ebb",
}
#: What helps to run it, of the sources.
EXTRAS = ("grafana-dashboard.json", "prometheus-alerts.yml")
SETTINGS = "etc/ebb/ebb.toml"
UNIT = "usr/lib/systemd/system/ebb.service"
SCRIPTS = ("postinst", "postrm", "prerm")


def of_sources(path):
    return File((ROOT / path).read_bytes())


class Contents:
    """Everything that packages are made of: `made` is the binary, `speaks` one of the same sources
    that this machine can run, `listed` the list of parts and `licences` their licences' texts."""

    def __init__(self, made, speaks, version, listed, licences, when):
        self.made, self.version, self.when = made, version, when
        self.listed, self.licences = text(listed), text(licences)
        self.binary = File(made.stripped(), 0o755)
        self.pages, self.completions = speaks.pages(), speaks.completions()

    def archive(self):
        """The archive for any Linux, and its name."""
        name = f"ebb-{self.version}-{self.made.architecture}-linux"
        files = {
            "bin/ebb": self.binary,
            "README.md": of_sources("README.md"),
            "CHANGELOG.md": of_sources("CHANGELOG.md"),
            "LICENSE-APACHE": of_sources("LICENSE-APACHE"),
            "LICENSE-MIT": of_sources("LICENSE-MIT"),
            "THIRD-PARTY-LICENCES.txt": self.licences,
            "ebb.cdx.json": self.listed,
            "systemd/ebb.service": of_sources("deploy/ebb.service"),
            "systemd/ebb.toml": File((HERE / "debian/ebb.toml").read_bytes()),
        }
        files |= {f"share/man/man1/{name}": File(page) for name, page in self.pages.items()}
        files |= self.completed("")
        files |= {f"share/ebb/{name}": of_sources(f"deploy/{name}") for name in EXTRAS}
        return f"{name}.tar.gz", tar_of(files, self.when, name)

    def completed(self, prefix):
        scripts = self.completions.items()
        return {f"{prefix}{COMPLETIONS[shell]}": File(script) for shell, script in scripts}

    def debian(self):
        """The package of Debian, and its name."""
        documents = "usr/share/doc/ebb"
        licences = [(ROOT / name).read_bytes() for name in ("LICENSE-MIT", "LICENSE-APACHE")]
        files = {
            "usr/bin/ebb": self.binary,
            SETTINGS: File((HERE / "debian/ebb.toml").read_bytes()),
            UNIT: of_sources("deploy/ebb.service"),
            f"{documents}/README.md": of_sources("README.md"),
            f"{documents}/copyright": File(b"\n\n".join([b"MIT OR Apache-2.0", *licences])),
            f"{documents}/THIRD-PARTY-LICENCES.txt.gz": self.squeezed(self.licences),
            f"{documents}/changelog.gz": self.squeezed(of_sources("CHANGELOG.md")),
            "usr/share/ebb/ebb.cdx.json": self.listed,
        }
        for name, page in self.pages.items():
            files[f"usr/share/man/man1/{name}.gz"] = compressed(page, self.when)
        files |= self.completed("usr/")
        files |= {f"usr/share/ebb/{name}": of_sources(f"deploy/{name}") for name in EXTRAS}
        members = [
            ("debian-binary", b"2.0\n"),
            ("control.tar.gz", tar_of(self.control(files), self.when)),
            ("data.tar.gz", tar_of(files, self.when)),
        ]
        name = f"ebb_{self.version}_{self.made.debian}.deb"
        return name, ar_of(members, self.when)

    def squeezed(self, file):
        return compressed(file.content, self.when)

    def control(self, files):
        """What dpkg reads of the package."""
        # In kilobytes, each file by itself, as Debian counts it.
        size = sum(-(-len(file.content) // 1024) for file in files.values())
        control = (HERE / "debian/control").read_text()
        depends = ["adduser", "init-system-helpers (>= 1.54~)", *self.made.depends()]
        sums = {
            path: hashlib.md5(file.content, usedforsecurity=False).hexdigest()
            for path, file in sorted(files.items())
            if path != SETTINGS
        }
        return {
            "control": text(
                control.format(
                    version=self.version,
                    architecture=self.made.debian,
                    size=size,
                    depends=", ".join(depends),
                )
            ),
            "conffiles": text(f"/{SETTINGS}\n"),
            "md5sums": text("".join(f"{of}  {path}\n" for path, of in sums.items())),
            **{name: File((HERE / "debian" / name).read_bytes(), 0o755) for name in SCRIPTS},
        }
