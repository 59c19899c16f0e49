"""Simulated reboots: with another boot id in the clock's file, the next start is one after a
reboot. And time namespaces, which shift the machine's boot clock for one process."""

import pathlib
import secrets
import struct

from lib import needs

SLOT = 512
#: Position of the boot id in a slot, and length of a checkpoint that includes the wall clock.
BOOT_ID, SIZE = slice(8, 24), 65


def table():
    """Yields the table of CRC-32C."""
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
        yield byte


TABLE = list(table())


def crc32c(data):
    sum = 0xFFFFFFFF
    for byte in data:
        sum = sum >> 8 ^ TABLE[(sum ^ byte) & 0xFF]
    return sum ^ 0xFFFFFFFF


def reboot(data_dir):
    """Makes the next start on this directory look like one after a reboot."""
    file = pathlib.Path(data_dir) / "clock"
    data = bytearray(file.read_bytes())
    for slot in (0, SLOT):
        body = data[slot : slot + SIZE]
        stored = struct.unpack(">I", data[slot + SIZE : slot + SIZE + 4])[0]
        assert stored == crc32c(body), "not a checkpoint as this module knows it"
        body[BOOT_ID] = secrets.token_bytes(16)
        data[slot : slot + SIZE + 4] = body + struct.pack(">I", crc32c(body))
    file.write_bytes(data)


def shifted(seconds):
    """Returns the prefix that starts a program with boot and monotonic clocks ahead."""
    needs.root("a time namespace")
    return ["unshare", "--time", f"--boottime={seconds}", f"--monotonic={seconds}", "--"]
