#!/usr/bin/env python3
"""Generates random queries of the NoSQL query language, most of them valid, many slightly wrong.

queries.py SEED COUNT writes a JSON body with a text `query` on each line, all different.
"""

import json
import random
import sys

NAMES = ["a", "b", "n", "tags", "x1", "_ts", "count", "first", "rank", "TRUE", "Null", "é"]
RESERVED = [
    "and",
    "array",
    "as",
    "asc",
    "between",
    "by",
    "case",
    "cast",
    "convert",
    "cross",
    "desc",
    "distinct",
    "else",
    "end",
    "escape",
    "exists",
    "false",
    "for",
    "from",
    "group",
    "having",
    "in",
    "inner",
    "insert",
    "into",
    "join",
    "left",
    "like",
    "limit",
    "not",
    "null",
    "offset",
    "on",
    "or",
    "order",
    "outer",
    "over",
    "right",
    "select",
    "set",
    "then",
    "top",
    "true",
    "udf",
    "undefined",
    "update",
    "value",
    "when",
    "where",
    "with",
]
FUNCTIONS = {
    1: [
        "ABS",
        "UPPER",
        "LENGTH",
        "IS_DEFINED",
        "IS_NUMBER",
        "ARRAY_LENGTH",
        "ToString",
        "StringToNumber",
        "Trim",
    ],
    2: [
        "STARTSWITH",
        "contains",
        "CONCAT",
        "ARRAY_CONTAINS",
        "POWER",
        "SetUnion",
        "LEFT",
        "Right",
        "IndexOf",
    ],
    3: ["REPLACE", "SUBSTRING", "IIF", "ARRAY_SLICE"],
    0: ["PI", "GetCurrentTimestamp"],
}
AGGREGATES = ["COUNT", "SUM", "MIN", "MAX", "AVG", "COUNTIF", "count", "Max"]
BINARY = [
    "=",
    "!=",
    "<>",
    "<",
    "<=",
    ">",
    ">=",
    "+",
    "-",
    "*",
    "/",
    "%",
    "||",
    "&",
    "|",
    "^",
    "<<",
    ">>",
    ">>>",
    "AND",
    "OR",
    "AND",
    "OR",
    "=",
    "??",
]
NUMBERS = ["0", "1", "2", "10", "1.5", "-1", "- 1", "0x1F", "1e3", ".5", "5."]
STRINGS = ["'x'", '"y"', "'it\\'s'", "'a\\nb'", '"\\u00e9"', "''", "'%a_'", '"q\\"q"']


class Maker:
    """Generates queries from a seed."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.scopes = []
        self.aggregates = 0

    def chance(self, percent):
        """Returns True with this probability in percent."""
        return self.random.random() * 100 < percent

    def pick(self, items):
        """Returns one of several."""
        return self.random.choice(items)

    def name(self):
        """Returns a property's name, rarely one that is reserved."""
        return self.pick(RESERVED) if self.chance(1) else self.pick(NAMES)

    def root(self):
        """Returns an alias of FROM, rarely an unknown one."""
        known = [name for scope in self.scopes for name in scope]
        return self.pick(known) if known and not self.chance(1.5) else self.pick(["z", "C", "c"])

    def path(self):
        """Returns a path that starts with an alias of FROM."""
        text = self.root()
        for _ in range(self.pick([0, 1, 1, 1, 1, 2, 3])):
            kind = self.random.random()
            if kind < 0.8:
                text += "." + self.name()
            elif kind < 0.9:
                text += "[{}]".format(self.pick(['"a"', "'b c'", '"order"']))
            elif kind < 0.98:
                text += "[{}]".format(self.pick(["0", "1", "-1", "1.5"]))
            else:
                text += f"[{self.expression(1)}]"
        return text

    def constant(self):
        """Returns a literal or a parameter."""
        kind = self.random.random()
        if kind < 0.45:
            return self.pick(NUMBERS)
        if kind < 0.85:
            return self.pick(STRINGS)
        return self.pick(["true", "false", "null", "undefined", "@p", "@p"])

    def call(self, depth):
        """Returns a call, rarely of an unknown function or with a wrong number of arguments."""
        count = self.pick([0, 1, 1, 1, 2, 2, 3])
        name = self.pick(FUNCTIONS[count])
        if self.chance(2):
            name = self.pick(["NOSUCH", "f", "STDEV"])
        if self.chance(2):
            count += 1
        return "{}({})".format(name, ", ".join(self.expression(depth - 1) for _ in range(count)))

    def predicate(self, depth):
        """Returns BETWEEN, IN or LIKE, in parentheses or not."""
        value = self.expression(depth - 1)
        no = self.pick(["", "", "NOT "])
        kind = self.random.random()
        if kind < 0.3:
            rest = f"BETWEEN {self.expression(0)} AND {self.expression(0)}"
        elif kind < 0.7:
            items = [self.expression(0) for _ in range(self.pick([1, 2, 3]))]
            rest = "IN ({})".format(", ".join(items))
        else:
            rest = f"LIKE {self.pick(STRINGS)}"
            if self.chance(20):
                rest += " ESCAPE {}".format(self.pick(["'!'", "'!'", "'ab'", "''"]))
        text = f"{value} {no}{rest}"
        return text if self.chance(40) else f"({text})"

    def expression(self, depth=2):
        """Returns an expression of at most this many levels."""
        if depth <= 0 or self.chance(30):
            return self.path() if self.chance(65) else self.constant()
        if self.aggregates and self.chance(8):
            return self.aggregate(depth)
        kind = self.random.random()
        if kind < 0.38:
            operator = self.pick(BINARY)
            text = f"{self.expression(depth - 1)} {operator} {self.expression(depth - 1)}"
            return text if self.chance(50) else f"({text})"
        if kind < 0.5:
            return self.predicate(depth)
        if kind < 0.68:
            return self.call(depth)
        if kind < 0.74:
            return self.pick(["NOT ", "-", "- ", "+", "~"]) + self.expression(depth - 1)
        if kind < 0.79:
            items = [self.expression(depth - 1) for _ in range(self.pick([0, 1, 2]))]
            return f"[{', '.join(items)}]"
        if kind < 0.85:
            return "{{{}}}".format(
                ", ".join(self.field(depth) for _ in range(self.pick([0, 1, 2, 2])))
            )
        if kind < 0.89:
            parts = [self.expression(depth - 1) for _ in range(3)]
            return "{} ? {} : {}".format(*parts)
        if kind < 0.97:
            word = self.pick(["", "", "EXISTS", "ARRAY", "ARRAY"])
            return f"{word}({self.query(depth - 1, inner=True)})"
        return f"({self.expression(depth - 1)})"

    def field(self, depth):
        """Returns a property of an object."""
        name = self.name() if self.chance(60) else self.pick(['"a"', "'b c'"])
        return f"{name}: {self.expression(depth - 1)}"

    def aggregate(self, depth=1):
        """Returns a call of an aggregate."""
        kept, self.aggregates = self.aggregates, 1 if self.chance(3) else 0
        of = self.pick(["1", self.path(), self.path(), self.expression(depth - 1)])
        self.aggregates = kept
        return f"{self.pick(AGGREGATES)}({of})"

    def source(self, depth, inner):
        """Returns one input of FROM, whose alias is known from then on."""
        kind = self.random.random()
        if self.scopes[-1] or inner:
            if kind < 0.75:
                name = self.pick(["t", "u", "v"])
                text = f"{name} IN {self.path()}"
            elif kind < 0.9 and depth > 0:
                name = self.pick(["t", "u", "w"])
                text = f"({self.query(depth - 1, inner=True)}) {self.pick(['', 'AS '])}{name}"
            else:
                name = self.pick(["t", "w"])
                text = f"{self.path()} AS {name}"
        elif kind < 0.75:
            name = text = self.pick(["c", "c", "c", "root"])
        elif kind < 0.85:
            name = self.pick(["r", "x"])
            text = f"c {self.pick(['', 'AS '])}{name}"
        elif kind < 0.92 and depth > 0:
            name = self.pick(["s", "x"])
            text = f"({self.query(depth - 1)}) {self.pick(['', 'AS '])}{name}"
        elif kind < 0.96:
            name, text = "t", "t IN c.tags"
        else:
            name, text = "tags", "c.tags"
        self.scopes[-1].append(name)
        return text

    def selection(self, depth, group):
        """Returns the SELECT list."""
        kind = self.random.random()
        if kind < 0.15 and (not group or self.chance(4)):
            return "*"
        if kind < 0.5:
            return f"VALUE {self.selected(depth, group)}"
        items = []
        for _ in range(self.pick([1, 1, 2, 2, 3])):
            text = self.selected(depth, group)
            if self.chance(50):
                alias = self.pick(["p", "q", "k", "m", "'w z'", '"o"', self.name()])
                text += f" {self.pick(['AS ', 'AS ', ''])}{alias}"
            items.append(text)
        return ", ".join(items)

    def selected(self, depth, group):
        """Returns one selected item, which usually fits GROUP BY."""
        if group is None:
            return self.expression(depth)
        kind = self.random.random()
        if kind < 0.5:
            return self.aggregate(depth)
        if kind < 0.9 and group:
            return self.pick(group)
        return self.expression(depth)

    def query(self, depth=2, inner=False):
        """Returns a query; an inner one seldom has clauses that are not allowed there."""
        self.scopes.append([])
        kept, self.aggregates = self.aggregates, 0
        source = ""
        if not self.chance(20 if inner else 2):
            source = " FROM " + self.source(depth, inner)
            while self.chance(25):
                source += " JOIN " + self.source(depth, inner)
        where = f" WHERE {self.expression(depth)}" if self.chance(40) else ""
        group, keys = None, ""
        if self.chance(8 if inner else 18):
            group = [self.path() if self.chance(85) else self.expression(1)]
            group += [self.path()] if self.chance(30) else []
            keys = " GROUP BY " + ", ".join(group)
        elif self.chance(20):
            group = []
        self.aggregates = group is not None
        selected = self.selection(depth, group)
        may = 2 if inner else 100
        order = f" ORDER BY {self.order(group)}" if self.chance(0.3 * may) else ""
        top = f"TOP {self.count(True)} " if self.chance(0.15 * may) else ""
        window = ""
        if self.chance((0.02 if top else 0.12) * may):
            window = f" OFFSET {self.count(False)} LIMIT {self.count(False)}"
        distinct = "DISTINCT " if self.chance(12) else ""
        self.aggregates = kept
        self.scopes.pop()
        return f"SELECT {distinct}{top}{selected}{source}{where}{keys}{order}{window}"

    def order(self, group):
        """Returns the items of ORDER BY."""
        items = []
        for _ in range(self.pick([1, 1, 1, 2])):
            paths = group if group and self.chance(85) else [self.path()]
            text = self.pick(paths) if self.chance(92) else self.expression(1)
            items.append(text + self.pick(["", "", " ASC", " DESC"]))
        return ", ".join(items)

    def count(self, top):
        """Returns a count, seldom a wrong one."""
        if self.chance(4):
            return self.pick(["-1", "1.5", "'x'", "4294967296", "@q", "c"])
        return self.pick(["0", "1", "2", "3", "10", "1.0" if top else "5"])

    def damaged(self, text):
        """Returns a text with one word removed, inserted, swapped or changed."""
        words = text.split(" ")
        at = self.random.randrange(len(words))
        kind = self.random.random()
        if kind < 0.3:
            del words[at]
        elif kind < 0.5:
            signs = ["(", ")", ",", ".", "'", "--", "/*", ";", "=", "!", "$", "@", "1a", "1e"]
            words.insert(at, self.pick(signs + [word.upper() for word in RESERVED]))
        elif kind < 0.7:
            other = self.random.randrange(len(words))
            words[at], words[other] = words[other], words[at]
        elif kind < 0.85:
            del words[at + 1 :]
        else:
            words[at] = self.pick(words)
        return " ".join(words)


def main():
    """Writes the queries."""
    seed, count = int(sys.argv[1]), int(sys.argv[2])
    maker, seen = Maker(seed), set()
    while len(seen) < count:
        text = maker.query(maker.pick([1, 1, 2, 2, 3]))
        if maker.chance(15):
            text = maker.damaged(text)
        if text not in seen and len(text) <= 400:
            seen.add(text)
            print(json.dumps({"query": text}, ensure_ascii=False))


if __name__ == "__main__":
    main()
