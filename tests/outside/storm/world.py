"""One client's exact knowledge of its own names, except for one request without a reply.

A world maps existing objects (("coll", database, name), ("db", name), ("user", database, name)) to
their contents. Before a request is sent, the client records the worlds that it may result in; after
the reply the last of them is the current world, and after a crash any of them may be.
"""

from itertools import combinations


class World:
    """One client's names in one API."""

    def __init__(self):
        self.held = {}
        #: Possible results of a request without a reply, and its description.
        self.perhaps, self.asked = [], None

    def names(self, kind):
        return sorted(key for key in self.held if key[0] == kind)

    def with_(self, key, value):
        return {**self.held, key: value}

    def without(self, *keys):
        return {key: value for key, value in self.held.items() if key not in keys}

    def without_some(self, keys):
        """Returns the worlds without some of `keys`, the last without all of them."""
        return [
            self.without(*gone) for n in range(1, len(keys) + 1) for gone in combinations(keys, n)
        ]

    def intend(self, asked, *worlds):
        self.perhaps, self.asked = list(worlds), asked

    def acknowledge(self):
        self.held, self.perhaps = self.perhaps[-1], []

    def refuse(self):
        """Called when the reply was an error: nothing has changed."""
        self.perhaps = []

    def settle(self, found):
        """Compares with the data of a restarted server; returns the errors, and takes the data as
        the new world."""
        legal = [self.held, *self.perhaps]
        self.perhaps = []
        if found in legal:
            self.held = found
            return []
        self.held = found
        told = [
            f"world {at} of {len(legal)}: {'; '.join(differences(found, world)[:5])}"
            for at, world in enumerate(legal)
        ]
        return [f"asked last: {self.asked}", *told[:4]]


def differences(found, wanted):
    """Describes the differences of two worlds."""
    texts = []
    for key in sorted(found.keys() | wanted.keys(), key=str):
        a, b = found.get(key), wanted.get(key)
        if a == b:
            continue
        if a is None or b is None:
            texts.append(f"{key} is {'not there' if a is None else 'there'}: {short(a or b)}")
            continue
        texts += [
            f"{key} {part}: found {short(a.get(part))}, wanted {short(b.get(part))}"
            for part in sorted(a.keys() | b.keys())
            if a.get(part) != b.get(part)
        ]
    return texts


def short(value):
    text = str(value)
    return text if len(text) < 300 else f"{text[:300]}…"
