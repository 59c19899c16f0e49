"""A case: documents, commands to send to both servers, and the parts of replies that may differ."""

from dataclasses import dataclass, field

COLLECTION = "c"


@dataclass
class Case:
    id: str
    commands: list
    docs: list | None = None
    writes: bool = False
    loose: frozenset = frozenset()
    drops: tuple = ()
    ours_first: list = field(default_factory=list)
    failures_alike: bool = False

    def sequence(self):
        """Returns every command: a fresh collection, the case's own, and reads of the result."""
        out = [{"drop": name} for name in self.drops]
        if self.docs is not None:
            out.append({"delete": COLLECTION, "deletes": [{"q": {}, "limit": 0}]})
            if self.docs:
                out.append({"insert": COLLECTION, "documents": self.docs})
        before = len(out)
        out += self.commands
        if self.writes:
            out.append({"find": COLLECTION, "sort": {"_id": 1}, "batchSize": 1000})
        return before, out


@dataclass
class Table:
    """Cases after a common set-up; in a `fast` one each is a single command that changes
    nothing."""

    name: str
    cases: list
    setup: list = field(default_factory=list)
    fast: bool = False
    ours_first: list = field(default_factory=list)


@dataclass
class Finding:
    case: Case
    command: dict
    ours: dict
    theirs: dict

    def kind(self):
        """Returns the kind of difference, by which findings are grouped and shrunk."""
        if self.ours.get("ok") and self.theirs.get("ok"):
            return "reply"
        return f"{self.ours.get('code')} for {self.theirs.get('code')}"
