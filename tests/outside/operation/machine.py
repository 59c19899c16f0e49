"""A machine for the commands that a page tells an operator to type: a copy of this one in
namespaces, where all changes vanish with it, every port is free and no other process is visible.
Requires root."""

import pathlib
import shutil
import subprocess
import sys
import textwrap
import time

from lib import needs
from lib.server import EBB_BIN

ROOT = pathlib.Path(__file__).parents[3]
#: Path of this clone on the machine: its own folder may be below /tmp, which the machine hides.
CLONE = "/run/clone"
#: A Python for scripts without packages; the virtual environment may be below /tmp, too.
PYTHON = pathlib.Path(sys.base_prefix, "bin", "python3")
AS_SYSTEMD = f"'{PYTHON}' {CLONE}/tests/outside/operation/as_systemd.py"
#: The user who builds the server and tries it.
TOM = "tom"
SOURCES = f"/home/{TOM}/ebb"
#: Seconds that one block of commands may take.
WITHIN = 120.0
#: Enables job control, and so `%1`, in a shell that reads a pipe.
JOBS = "set -m"

#: The namespaces' first process: an overlay of the whole machine, then a shell in it.
ENTER = """
set -e
mount --make-rprivate /
mount -t tmpfs -o mode=755 tmpfs "$1"
cd "$1"
mkdir upper work root
mount -t overlay -o lowerdir=/,upperdir=upper,workdir=work overlay root
mount -t proc proc root/proc
mount --rbind /dev root/dev
mount -t tmpfs -o mode=755 tmpfs root/run
for place in tmp var/tmp; do mount -t tmpfs -o mode=1777 tmpfs root/$place; done
for place in tools blocks node mongosh/node_modules clone; do
    mkdir -p "root/run/$place"
    mount --bind "$2" "root/run/$place"
    shift
done
ip link set lo up
usual=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
exec chroot root env -i PATH=/run/tools:$usual HOME=/root LANG=C.UTF-8 bash
"""

#: Replacements of programs that a test does not have: scripts by name.
TOOLS = {
    # The build: copies the existing binary.
    "cargo": """#!/bin/sh
        [ "$EBB_PORTAL $*" = "required build --release -p ebb" ] || exit 9
        mkdir -p target/release && cp /run/tools/ebb.built target/release/ebb
    """,
    # Enters the password that a person would type: that of the user in the address.
    "mongosh": """#!/bin/sh
        shell="/run/node/node /run/mongosh/node_modules/@mongosh/cli-repl/bin/mongosh.js --norc"
        for user in ann shop; do
            case "$*" in *//$user@*) exec $shell "$@" < /root/$user.password ;; esac
        done
        exec $shell "$@"
    """,
    "systemctl": f'#!/bin/sh\nexec {AS_SYSTEMD} systemctl "$@"',
    "journalctl": f'#!/bin/sh\nexec {AS_SYSTEMD} journalctl "$@"',
}


def packages(*functions):
    """Runs functions of tests/lib/languages.sh; returns the output of the last one."""
    text = f"""
        set -e
        cache=${{XDG_CACHE_HOME:-$HOME/.cache}}/ebb-tests
        mkdir -p "$cache"
        . tests/lib/languages.sh
        {"; ".join(functions)}
    """
    run = ["bash", "-c", text]
    ran = subprocess.run(run, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    return ran.stdout.strip()


class Machine:
    """The machine, and a shell in it, which is root's at first."""

    def __init__(self, folder):
        needs.root("a machine in namespaces")
        self.tools, self.blocks = folder / "tools", folder / "blocks"
        for each in (self.tools, self.blocks, folder / "machine"):
            each.mkdir()
        self.blocks.chmod(0o1777)
        for name, script in TOOLS.items():
            (self.tools / name).write_text(textwrap.dedent(script).lstrip())
            (self.tools / name).chmod(0o755)
        shutil.copy(EBB_BIN, self.tools / "ebb.built")
        node = packages("need_node", 'realpath "$(command -v node)"')
        mongosh = packages("need_node", "node_modules tests/drivers/mongosh")
        promtool = packages("need_promtool", 'realpath "$PROMTOOL"')
        shutil.copy(promtool, self.tools / "promtool")
        places = [self.tools, self.blocks, pathlib.Path(node).parent, mongosh, ROOT]
        self.count = 0
        self.said = folder / "said"
        enter = ["bash", "-c", ENTER, "enter", folder / "machine", *places]
        with open(self.said, "wb") as said:
            self.process = subprocess.Popen(
                ["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", *enter],
                stdin=subprocess.PIPE,
                stdout=said,
                stderr=said,
            )
        self.say(JOBS)

    def say(self, line):
        """Types one line."""
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()

    def become(self, user):
        """Switches the shell to that user, until `leave`."""
        self.say(f"su {user} -c bash")
        self.say(JOBS)

    def leave(self):
        self.say("exit")

    def run(self, commands):
        """Types commands, and returns their output and the first one that failed, if any."""
        self.count += 1
        script, printed, failed, ended = (
            self.blocks / f"{self.count}.{kind}" for kind in ("sh", "printed", "failed", "ended")
        )
        script.write_text(commands)
        seen = f"/run/blocks/{self.count}"
        self.say(f"trap 'echo \"$BASH_COMMAND\" >>{seen}.failed' ERR")
        self.say(f"source {seen}.sh </dev/null >{seen}.printed 2>&1; echo >{seen}.ended")
        until = time.monotonic() + WITHIN
        while not ended.exists():
            assert self.process.poll() is None, f"no machine: {self.said.read_text()}"
            assert time.monotonic() < until, f"no end of:\n{commands}\n{printed.read_text()}"
            time.sleep(0.02)
        text = printed.read_text(errors="replace")
        return text, failed.read_text().splitlines()[0] if failed.exists() else None

    def close(self):
        self.process.kill()
        self.process.wait(10)
