"""A file system in a file that loses its power: what was not made durable until then is gone."""

import contextlib
import errno
import fcntl
import os
import pathlib
import shutil
import struct
import subprocess
import tempfile
import time

from lib.server import FOUND

#: `EXT4_IOC_SHUTDOWN` and `XFS_IOC_GOINGDOWN`, and their flag that says not to write the log first.
SHUTDOWN, NOT_THE_LOG = 0x8004587D, 2
#: How each is made and mounted. ext4 is kept from making a renamed file durable by itself, and from
#: writing its log every five seconds: what the server needs it has to ask for.
KINDS = {
    "ext4": (["mkfs.ext4", "-q", "-m", "0"], "loop,noauto_da_alloc,commit=60"),
    "xfs": (["mkfs.xfs", "-q"], "loop"),
}
#: The package that has mkfs.xfs.
XFS = "xfsprogs"
#: Whether images stay behind.
KEEPS = os.environ.get("KEEP") == "1"
#: Seconds within which nobody has a file open any more, and no other mount namespace has it.
FREE_WITHIN = 10
#: What says which file is behind a loop device.
BACKING = "loop*/loop/backing_file"


class Disk:
    """It is mounted for the length of a block; with KEEP=1 its image stays behind."""

    def __init__(self, kind, megabytes, keeps=KEEPS):
        self.kind, self.megabytes = kind, megabytes
        self.home = pathlib.Path(tempfile.mkdtemp(prefix=f"ebb-outside-power-{kind}-"))
        self.path, self.image = self.home / "mounted", self.home / "image"
        self.keeps = keeps

    def __enter__(self):
        try:
            self.path.mkdir()
            with open(self.image, "wb") as file:
                file.truncate(self.megabytes << 20)
            make, _ = KINDS[self.kind]
            if self.kind == "xfs" and not shutil.which(make[0]):
                run("apt-get", "update", "-qq")
                run("apt-get", "install", "-y", "-qq", XFS)
            run(*make, str(self.image))
            self.mount()
        except BaseException:
            shutil.rmtree(self.home, ignore_errors=True)
            raise
        return self

    def __exit__(self, error, *_):
        if self.is_mounted():
            run("umount", "-l", str(self.path))
        if not self.keeps and not (error and FOUND):
            shutil.rmtree(self.home, ignore_errors=True)

    def mount(self):
        run("mount", "-t", self.kind, "-o", KINDS[self.kind][1], str(self.image), str(self.path))

    def cut(self):
        """From now on nothing reaches the image, and every call on it fails."""
        place = os.open(self.path, os.O_RDONLY)
        try:
            fcntl.ioctl(place, SHUTDOWN, struct.pack("I", NOT_THE_LOG))
        finally:
            os.close(place)

    def is_mounted(self):
        """As the kernel says: the path itself cannot be looked at after a cut."""
        mounts = pathlib.Path("/proc/self/mountinfo").read_text()
        return any(line.split()[4] == str(self.path) for line in mounts.splitlines())

    def is_attached(self):
        """Whether the file system lives on, here or in a mount namespace of others."""
        return str(self.image) in backing_files()

    def renew(self, within=FREE_WITHIN):
        """Mounts what has reached the image."""
        until = time.monotonic() + within
        while self.is_mounted():
            try:
                run("umount", str(self.path))
            except subprocess.CalledProcessError as error:
                if time.monotonic() > until:
                    raise OSError(errno.EBUSY, error.stderr.decode()) from error
                time.sleep(0.05)
        # A second mount would be of the one that is cut off.
        while self.is_attached():
            if time.monotonic() > until:
                raise OSError(errno.EBUSY, f"another mount namespace holds {self.path}")
            time.sleep(0.01)
        if self.keeps:
            copy = ["cp", "--sparse=always", str(self.image), str(self.home / "before")]
            subprocess.run(copy, check=True)
        self.mount()


def backing_files():
    """The files behind the loop devices of this machine."""
    found = set()
    for path in pathlib.Path("/sys/block").glob(BACKING):
        # One that has just gone is no more.
        with contextlib.suppress(OSError):
            found.add(path.read_text().rstrip("\n"))
    return found


def works(kind):
    """Whether this machine lets us mount one and cut its power."""
    try:
        with Disk(kind, 320, keeps=False) as disk:
            disk.cut()
            disk.renew()
            return True
    except (OSError, subprocess.CalledProcessError):
        return False


def run(*command):
    subprocess.run(command, check=True, capture_output=True)
