"""Chooses the bit of a data directory to flip: first the kind of file, so that small files are hit
as often as large ones."""

import pathlib


def size_in_use(path):
    """Returns the size of a file without the zeroes at the end of a preallocated one, except a few
    of them."""
    data = path.read_bytes()
    return min(len(data), len(data.rstrip(b"\0")) + 64)


def kinds(image):
    """Returns paths and used lengths by kind of file, which is the name without digits."""
    found = {}
    for path in sorted(pathlib.Path(image).rglob("*")):
        if path.is_file() and path.name != "lock" and size_in_use(path):
            name = path.relative_to(image)
            kind = "".join(letter for letter in str(name) if not letter.isdigit())
            found.setdefault(kind, []).append((name, size_in_use(path)))
    return found


#: The journal is what recovery reads after a crash, where most errors are possible.
WEIGHTS = {"store/journal": 8, "tables": 6}
#: Size from which on half of the flips of a file are near its end.
LARGE = 10_000


def choose(rng, files):
    """Returns a file, an offset in it, and a bit."""
    names = list(files)
    weights = [
        next((weight for part, weight in WEIGHTS.items() if part in kind), 1) for kind in names
    ]
    [kind] = rng.choices(names, weights)
    paths = files[kind]
    [(name, size)] = rng.choices(paths, [size for _, size in paths])
    at = rng.randrange(size)
    if size > LARGE and rng.random() < 0.5:
        # Near the end, where damage looks like a torn write.
        at = max(0, size - 1 - int(rng.expovariate(0.001)))
    return name, at, rng.randrange(8)


def flip(directory, name, at, bit):
    with open(directory / name, "r+b") as file:
        file.seek(at)
        [byte] = file.read(1)
        file.seek(at)
        file.write(bytes([byte ^ 1 << bit]))
