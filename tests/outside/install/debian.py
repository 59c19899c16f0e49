"""A small Debian with systemd as its first process, into which packages are installed: a fresh root
file system in memory, in namespaces and a cgroup that vanish with it. Requires root."""

import os
import pathlib
import subprocess
import time

#: Limit in seconds for the start of the machine, and for one command.
WITHIN = 120.0

#: The namespaces' first process: unpacks the root, mounts /proc and the like, becomes systemd.
ENTER = """
set -e
tar=$1 root=$2 shared=$3
mount --make-rprivate /
mount -t tmpfs -o mode=755 tmpfs "$root"
tar --extract --file "$tar" --directory "$root" --numeric-owner
cd "$root"
mount -t proc proc proc
mount -t sysfs -o ro sysfs sys
mount -t cgroup2 cgroup2 sys/fs/cgroup
mount -t tmpfs -o mode=755 tmpfs run
mount -t tmpfs -o mode=1777 tmpfs tmp
mount -t tmpfs -o mode=755 tmpfs dev
mkdir dev/pts dev/shm run/host
for device in null zero full random urandom tty; do
    touch "dev/$device"
    mount --bind "/dev/$device" "dev/$device"
done
ln -s /proc/self/fd dev/fd
mount -t devpts -o newinstance,ptmxmode=0666 devpts dev/pts
ln -s pts/ptmx dev/ptmx
mount -t tmpfs -o mode=1777 tmpfs dev/shm
mount --bind "$shared" run/host
ip link set lo up
mkdir .before
pivot_root . .before
exec chroot / sh -ec '
    umount -l /.before
    rmdir /.before
    exec env -i container=test PATH=/usr/sbin:/usr/bin:/sbin:/bin \
        /lib/systemd/systemd --unit=multi-user.target
'
"""


class Debian:
    """The machine. `shared` is a folder that is mounted there as /run/host."""

    def __init__(self, tar, folder, shared):
        self.group = Group(f"ebb-{os.getpid()}")
        root = folder / "debian"
        root.mkdir()
        self.said = folder / "systemd"
        apart = ["--mount", "--net", "--pid", "--uts", "--ipc", "--cgroup", "--fork"]
        enter = ["bash", "-c", ENTER, "enter", tar, root, shared]
        with open(self.said, "wb") as said:
            self.process = subprocess.Popen(
                ["unshare", *apart, "--kill-child", *enter],
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
                preexec_fn=self.group.join,
            )
        try:
            self.until(self.has_started, "systemd runs")
        except BaseException:
            self.close()
            raise

    def has_started(self):
        assert self.process.poll() is None, f"no machine: {self.said.read_text(errors='replace')}"
        return self.run("systemctl is-system-running", check=False).stdout.strip() in (
            "running",
            "degraded",
        )

    def first_process(self):
        path = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        return path.read_text().split()[:1]

    def run(self, command, check=True):
        """Runs a shell command on the machine, and returns its result."""
        enter = ["nsenter", "--all", "--target", *(self.first_process() or ["0"])]
        ran = subprocess.run(
            [*enter, "env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "sh", "-c", command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=WITHIN,
        )
        assert not check or ran.returncode == 0, f"{command}: {ran.stdout}"
        return ran

    def says(self, command):
        """Returns the output of a command that must succeed."""
        return self.run(command).stdout.strip()

    def until(self, holds, what):
        end = time.monotonic() + WITHIN
        while not holds():
            assert time.monotonic() < end, f"not within {WITHIN} seconds: {what}"
            time.sleep(0.05)

    def close(self):
        self.process.kill()
        self.process.wait(10)
        self.group.remove()


class Group:
    """A cgroup for the machine, in the hierarchy of version 2."""

    def __init__(self, name):
        mounts = [line.split() for line in pathlib.Path("/proc/mounts").read_text().splitlines()]
        above = next(where for _, where, kind, *_ in mounts if kind == "cgroup2")
        self.path = pathlib.Path(above) / name
        self.path.mkdir()

    def join(self):
        (self.path / "cgroup.procs").write_text(str(os.getpid()))

    def remove(self):
        """Removes the cgroup; the kernel needs some time to release its killed processes."""
        end = time.monotonic() + WITHIN
        for folder in sorted(self.path.rglob("*/"), reverse=True):
            self.removed(folder, end)
        self.removed(self.path, end)

    def removed(self, folder, end):
        while folder.exists():
            try:
                folder.rmdir()
            except OSError:
                assert time.monotonic() < end, f"{folder} stays"
                time.sleep(0.05)
