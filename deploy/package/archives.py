"""Files of packages, and the two formats that they are written in: a compressed tar archive, and
the archive of `ar` that a Debian package is. The same files give the same bytes: they are sorted,
belong to root and have one time. It knows nothing of what is in the files."""

import dataclasses
import gzip
import io
import tarfile

#: Above it takes twice the time for a hundredth of the bytes.
COMPRESSION = 6


@dataclasses.dataclass(frozen=True)
class File:
    """What a file has in it, and who may do what with it."""

    content: bytes
    mode: int = 0o644


def text(content):
    """A file of text."""
    return File(content.encode())


def compressed(content, when):
    """A file that is compressed, as manual pages of Debian are."""
    return File(gzip.compress(content, COMPRESSION, mtime=when))


def tar_of(files, when, top="."):
    """A compressed archive of files by their paths below one folder."""
    folders = {parent for path in files for parent in parents(path)}
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w", format=tarfile.GNU_FORMAT) as tar:
        tar.addfile(member(top, 0o755, when, tarfile.DIRTYPE))
        for path in sorted(folders | set(files)):
            if path in files:
                it = member(f"{top}/{path}", files[path].mode, when, tarfile.REGTYPE)
                it.size = len(files[path].content)
                tar.addfile(it, io.BytesIO(files[path].content))
            else:
                tar.addfile(member(f"{top}/{path}", 0o755, when, tarfile.DIRTYPE))
    return gzip.compress(written.getvalue(), COMPRESSION, mtime=when)


def member(name, mode, when, kind):
    it = tarfile.TarInfo(name)
    it.mode, it.mtime, it.type = mode, when, kind
    it.uname = it.gname = "root"
    return it


def parents(path):
    """The folders above a path."""
    parts = path.split("/")[:-1]
    return {"/".join(parts[:end]) for end in range(1, len(parts) + 1)}


def ar_of(members, when):
    """The archive of `ar` that has these members in this order."""
    written = [b"!<arch>\n"]
    for name, content in members:
        head = f"{name:<16}{when:<12}{0:<6}{0:<6}{'100644':<8}{len(content):<10}`\n"
        written += [head.encode(), content, b"\n" if len(content) % 2 else b""]
    return b"".join(written)
