"""What a built binary says of itself: for which kind of machine it is, which C library it needs,
and what it prints. Building it, or why this machine cannot, is in build.py."""

import pathlib
import subprocess
import tempfile

from elftools.elf.elffile import ELFFile
from elftools.elf.gnuversions import GNUVerNeedSection

#: By what ELF calls a kind of machine: what Rust, Debian and `uname -m` call it.
MACHINES = {"EM_X86_64": ("x86_64", "amd64"), "EM_AARCH64": ("aarch64", "arm64")}
#: The libraries of Debian that a binary may need, by what the linker calls them.
PACKAGES = {
    **dict.fromkeys(
        ("libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1"), "libc6"
    ),
    "ld-linux-x86-64.so.2": "libc6",
    "ld-linux-aarch64.so.1": "libc6",
    "libgcc_s.so.1": "libgcc-s1",
}
SHELLS = ("bash", "elvish", "fish", "powershell", "zsh")


class Binary:
    """A binary of ebb."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        with open(path, "rb") as file:
            elf = ELFFile(file)
            machine = elf["e_machine"]
            if machine not in MACHINES:
                raise ValueError(f"{path} is for {machine}, for which there are no packages")
            self.architecture, self.debian = MACHINES[machine]
            self.needs = needs_of(elf)

    def depends(self):
        """The packages of Debian that it needs, with the oldest version that is enough."""
        found = {}
        for library, versions in self.needs.items():
            if library not in PACKAGES:
                raise ValueError(f"{self.path} needs {library}; binary.py names no package of it")
            found.setdefault(PACKAGES[library], set()).update(versions)
        # Versions of symbols of libgcc are those of compilers, not of the package.
        oldest = max(found.pop("libc6", ()), default=None, key=numbers)
        wanted = [f"libc6 (>= {oldest})"] if oldest else []
        return wanted + sorted(found)

    def stripped(self):
        """Its bytes without what only debuggers read. Names of functions stay, for backtraces."""
        tool = "strip" if self.can_run() else f"{self.architecture}-linux-gnu-strip"
        with tempfile.TemporaryDirectory() as folder:
            to = pathlib.Path(folder) / "ebb"
            subprocess.run([tool, "--strip-debug", "-o", to, self.path], check=True)
            return to.read_bytes()

    def can_run(self):
        """Whether this machine can run it."""
        ran = subprocess.run(["uname", "-m"], check=True, stdout=subprocess.PIPE, text=True)
        return ran.stdout.strip() == self.architecture

    def prints(self, *arguments):
        """What it prints, whatever the environment of the caller says."""
        run = [self.path.resolve(), *arguments]
        return subprocess.run(run, check=True, env={}, stdout=subprocess.PIPE).stdout

    def completions(self):
        """The scripts that complete its commands, by shell."""
        return {shell: self.prints("completions", shell) for shell in SHELLS}

    def pages(self):
        """Its manual pages by the names of their files."""
        with tempfile.TemporaryDirectory() as folder:
            self.prints("man", folder)
            return {path.name: path.read_bytes() for path in pathlib.Path(folder).iterdir()}


def needs_of(elf):
    """The libraries that are linked at the start, each with the versions of glibc it must have."""
    dynamic = elf.get_section_by_name(".dynamic")
    found = {tag.needed: set() for tag in dynamic.iter_tags("DT_NEEDED")} if dynamic else {}
    for section in elf.iter_sections():
        if isinstance(section, GNUVerNeedSection):
            for library, symbols in section.iter_versions():
                names = [symbol.name for symbol in symbols]
                versions = {name[6:] for name in names if name.startswith("GLIBC_")}
                found.setdefault(library.name, set()).update(versions)
    return found


def numbers(version):
    return [int(part) if part.isdigit() else 0 for part in version.split(".")]
