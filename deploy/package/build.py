"""Builds the binary with its portal by cargo, for this machine or another kind, or says why it
cannot. What is in a package is not known here."""

import os
import pathlib
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
SUFFIX = "-unknown-linux-gnu"


def printed(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def own_target():
    """What cargo calls this kind of machine."""
    return f"{os.uname().machine}{SUFFIX}"


def why_not(target):
    """What is missing here to build for a kind of machine; `None`: nothing."""
    if not shutil.which("cargo"):
        return "there is no cargo: install Rust, or name a binary by EBB_BIN"
    if not pathlib.Path(printed("rustc", "--print", "target-libdir", "--target", target)).exists():
        return f"Rust has no standard library for it here: `rustup target add {target}`"
    if target != own_target() and not shutil.which(compiler(target)):
        return f"there is no C compiler {compiler(target)}: install gcc-{tools(target)}"
    return None


def tools(target):
    """How the C compiler and its tools for a kind of machine begin on Debian."""
    return target.removesuffix(SUFFIX) + "-linux-gnu"


def compiler(target):
    return f"{tools(target)}-gcc"


def built(target):
    """Builds for a kind of machine, and returns the binary."""
    environment = os.environ | {"EBB_PORTAL": "required"}
    if target != own_target():
        capitals = target.upper().replace("-", "_")
        environment |= {
            f"CARGO_TARGET_{capitals}_LINKER": compiler(target),
            f"CC_{target.replace('-', '_')}": compiler(target),
        }
    run = ["cargo", "build", "--release", "--locked", "--offline", "-p", "ebb", "--target", target]
    subprocess.run(run, cwd=ROOT, check=True, env=environment)
    folder = pathlib.Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target")
    return folder / target / "release" / "ebb"
