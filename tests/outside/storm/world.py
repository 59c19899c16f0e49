"""What one client knows of the names that are its own: exactly, but for one request without an
answer.

A world maps what there is (("coll", database, name), ("db", name), ("user", database, name)) to
what it holds. A request says before it is sent which worlds it may leave behind; an answer makes
the last of them the world that is, and after a crash it is one of them.
"""

from itertools import combinations


class World:
    """One client's names, at one door."""

    def __init__(self):
        self.held = {}
        #: What an unanswered request may have left, whole or in part, and which it was.
        self.perhaps, self.asked = [], None

    def names(self, kind):
        return sorted(key for key in self.held if key[0] == kind)

    def with_(self, key, value):
        return {**self.held, key: value}

    def without(self, *keys):
        return {key: value for key, value in self.held.items() if key not in keys}

    def without_some(self, keys):
        """The worlds in which some of these are gone, and last the one without any of them."""
        return [
            self.without(*gone) for n in range(1, len(keys) + 1) for gone in combinations(keys, n)
        ]

    def intend(self, asked, *worlds):
        self.perhaps, self.asked = list(worlds), asked

    def acknowledge(self):
        self.held, self.perhaps = self.perhaps[-1], []

    def refuse(self):
        """The answer was an error: nothing has changed."""
        self.perhaps = []

    def settle(self, found):
        """Compares with what a restarted server has; answers what is wrong, and believes the
        rest."""
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
    """What two worlds differ in, in words."""
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
