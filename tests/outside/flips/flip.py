"""Which bit of a data directory is turned: files by kind, so that a small one is hit as often as a
large one."""

import pathlib


def size_in_use(path):
    """Without the zeroes at the end of a file that was made long in advance, but for a few of
    them."""
    data = path.read_bytes()
    return min(len(data), len(data.rstrip(b"\0")) + 64)


def kinds(image):
    """Paths and lengths in use, by the kind of file that they are: names without their digits."""
    found = {}
    for path in sorted(pathlib.Path(image).rglob("*")):
        if path.is_file() and path.name != "lock" and size_in_use(path):
            name = path.relative_to(image)
            kind = "".join(letter for letter in str(name) if not letter.isdigit())
            found.setdefault(kind, []).append((name, size_in_use(path)))
    return found


#: The journal is what a crash leaves behind, and has most of what can go wrong.
WEIGHTS = {"store/journal": 8, "tables": 6}
#: Bytes above which a file has an end of its own.
LARGE = 10_000


def choose(rng, files):
    """A file, a place in it, and a bit."""
    names = list(files)
    weights = [
        next((weight for part, weight in WEIGHTS.items() if part in kind), 1) for kind in names
    ]
    [kind] = rng.choices(names, weights)
    paths = files[kind]
    [(name, size)] = rng.choices(paths, [size for _, size in paths])
    at = rng.randrange(size)
    if size > LARGE and rng.random() < 0.5:
        # Near the end, where damage looks like what a crash had cut.
        at = max(0, size - 1 - int(rng.expovariate(0.001)))
    return name, at, rng.randrange(8)


def flip(directory, name, at, bit):
    with open(directory / name, "r+b") as file:
        file.seek(at)
        [byte] = file.read(1)
        file.seek(at)
        file.write(bytes([byte ^ 1 << bit]))
