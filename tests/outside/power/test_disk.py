"""A test of the simulated disk: it recovers from a cut, even if another process has it mounted."""

import subprocess

import pytest
from lib import needs

from power.disk import KINDS, Disk


@pytest.mark.parametrize("kind", KINDS)
def test_a_cut_disk_is_not_mounted_again_while_others_hold_it(kind):
    """A process with its own mount namespace keeps the mounts that existed at its start. Mounting
    the same image again would attach to that instance, which is cut off."""
    with Disk(kind, 320, keeps=False) as disk:
        (disk.path / "before").touch()
        holder = subprocess.Popen(
            ["unshare", "--mount", "cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        try:
            holder.stdin.write(b"\n")
            holder.stdin.flush()
            assert holder.stdout.readline() == b"\n", "unshare does not begin"
            disk.cut()
            with pytest.raises(OSError, match="another mount namespace holds"):
                disk.renew(within=0.5)
        finally:
            holder.stdin.close()
            holder.stdout.close()
            holder.wait(10)
        disk.renew()
        (disk.path / "after").write_text("it takes writes again")


def test_a_cut_disk_is_not_left_mounted():
    needs.root("a file system in a file")
    with Disk("xfs", 320, keeps=False) as disk:
        disk.cut()
        assert disk.is_mounted()
    assert not disk.is_mounted() and not disk.is_attached()
