"""A file system in a file whose power can be cut: writes that are not durable are lost."""

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

from lib import needs
from lib.server import FOUND

#: `EXT4_IOC_SHUTDOWN` and `XFS_IOC_GOINGDOWN`, and their flag for not flushing the log first.
SHUTDOWN, NOT_THE_LOG = 0x8004587D, 2
#: How each is made and mounted. ext4 must not make renamed files durable automatically, nor commit
#: its journal every five seconds: the server has to request durability.
KINDS = {
    "ext4": (["mkfs.ext4", "-q", "-m", "0"], "loop,noauto_da_alloc,commit=60"),
    "xfs": (["mkfs.xfs", "-q"], "loop"),
}
#: The package that has mkfs.xfs.
XFS = "xfsprogs"
#: Whether images are kept.
KEEPS = os.environ.get("KEEP") == "1"
#: Seconds within which all files are closed and no other mount namespace has the file system.
FREE_WITHIN = 10
#: Pattern of the files that name the backing file of a loop device.
BACKING = "loop*/loop/backing_file"


class Disk:
    """Mounted for the length of a block; with KEEP=1 its image is kept."""

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
            if self.kind == "xfs":
                needs.program(make[0], XFS)
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
        """Cuts the power: from now on nothing reaches the image, and every call on it fails."""
        place = os.open(self.path, os.O_RDONLY)
        try:
            fcntl.ioctl(place, SHUTDOWN, struct.pack("I", NOT_THE_LOG))
        finally:
            os.close(place)

    def is_mounted(self):
        """Returns whether the kernel lists it as mounted: after a cut its path fails."""
        mounts = pathlib.Path("/proc/self/mountinfo").read_text()
        return any(line.split()[4] == str(self.path) for line in mounts.splitlines())

    def is_attached(self):
        """Returns whether the file system still exists, in this or in another mount namespace."""
        return str(self.image) in backing_files()

    def renew(self, within=FREE_WITHIN):
        """Mounts the state that has reached the image."""
        until = time.monotonic() + within
        while self.is_mounted():
            try:
                run("umount", str(self.path))
            except subprocess.CalledProcessError as error:
                if time.monotonic() > until:
                    raise OSError(errno.EBUSY, error.stderr.decode()) from error
                time.sleep(0.05)
        # A second mount would attach to the instance that was cut off.
        while self.is_attached():
            if time.monotonic() > until:
                raise OSError(errno.EBUSY, f"another mount namespace holds {self.path}")
            time.sleep(0.01)
        if self.keeps:
            copy = ["cp", "--sparse=always", str(self.image), str(self.home / "before")]
            subprocess.run(copy, check=True)
        self.mount()


def backing_files():
    """Returns the backing files of the loop devices of this machine."""
    found = set()
    for path in pathlib.Path("/sys/block").glob(BACKING):
        # A device may have been detached since.
        with contextlib.suppress(OSError):
            found.add(path.read_text().rstrip("\n"))
    return found


def works(kind):
    """Returns whether this machine permits mounting such a disk and cutting its power."""
    try:
        with Disk(kind, 320, keeps=False) as disk:
            disk.cut()
            disk.renew()
            return True
    except (OSError, subprocess.CalledProcessError):
        return False


def run(*command):
    subprocess.run(command, check=True, capture_output=True)
