"""A small file system that can be filled and emptied while a server has its data on it."""

import contextlib
import os
import pathlib
import shutil
import subprocess
import tempfile

#: A file that uses up the free space.
BALLAST = "ballast"


class Disk:
    """A file system that is mounted for the length of a block: ext4 in a file, or tmpfs if there
    are no loop devices."""

    def __init__(self, megabytes):
        self.home = pathlib.Path(tempfile.mkdtemp(prefix="ebb-outside-disk-"))
        self.path, self.image = self.home / "mounted", self.home / "image"
        self.megabytes = megabytes

    def __enter__(self):
        self.path.mkdir()
        try:
            with open(self.image, "wb") as file:
                file.truncate(self.megabytes << 20)
            run("mkfs.ext4", "-q", "-m", "0", str(self.image))
            run("mount", "-o", "loop", str(self.image), str(self.path))
            self.kind = "ext4"
        except (OSError, subprocess.CalledProcessError):
            run("mount", "-t", "tmpfs", "-o", f"size={self.megabytes}m", "tmpfs", str(self.path))
            self.kind = "tmpfs"
        return self

    def __exit__(self, *_):
        run("umount", "-l", str(self.path))
        shutil.rmtree(self.home, ignore_errors=True)

    def free(self):
        found = os.statvfs(self.path)
        return found.f_bavail * found.f_frsize

    def fill(self, leave=0):
        """Uses up all but `leave` bytes of the free space."""
        with open(self.path / BALLAST, "ab") as file, contextlib.suppress(OSError):
            os.posix_fallocate(file.fileno(), file.tell(), max(1, self.free() - leave))
        if leave:
            return
        # Uses up the fragments that are left.
        with open(self.path / BALLAST, "ab", buffering=0) as file, contextlib.suppress(OSError):
            while True:
                file.write(b"x" * 4096)

    def empty(self):
        (self.path / BALLAST).unlink()


def run(*command):
    subprocess.run(command, check=True, capture_output=True)
