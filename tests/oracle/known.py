"""Known differences and the reasons to keep them: globs over ids of the tables' cases, and shapes
of random ones. A glob without a difference any more makes the run fail."""

from both.outcome import failed

DECIMALS = [
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "sinh",
    "cosh",
    "tanh",
    "asinh",
    "acosh",
    "atanh",
    "exp",
    "ln",
    "log10",
    "degreesToRadians",
    "radiansToDegrees",
]
AS_DATE = [
    "year",
    "month",
    "dayOfMonth",
    "dayOfWeek",
    "dayOfYear",
    "hour",
    "minute",
    "second",
    "week",
    "isoWeek",
    "isoWeekYear",
    "isoDayOfWeek",
]

REASONS = {
    "decimals go through doubles and have 15 digits": [
        *(f"one/{name}/decimal *" for name in DECIMALS),
        "one/log 2/decimal *",
        "one/log base/decimal *",
        "one/pow -1/decimal *",
        "two/pow/*decimal*",
        "two/log/*decimal*",
        "two/atan2/*decimal*",
        "numbers/pow/*decimal*",
    ],
    "the same to the last digit or two, from another mathematical library": [
        "one/asinh/double 1e300",
        "one/acosh/double 1e300",
    ],
    "quotients by an infinite decimal are 0 with another exponent": [
        "one/divide by/decimal *",
        "two/divide/*inf",
        "numbers/divide/*inf",
    ],
    "a timestamp's text is the shell's, in no time zone": [
        f"one/{name}/timestamp*" for name in ("toLower", "toUpper", "substrCP", "substrBytes")
    ]
    + ["two/strcasecmp/*timestamp*"],
    "seconds of an ObjectId are unsigned, as its specification says": [
        f"one/{name}/oid ff"
        for name in (
            *AS_DATE,
            "toDate",
            "dateToParts",
            "dateToParts iso",
            "dateToString",
            "dateToString all",
            "dateToString zone",
            "hour zone",
            "dateTrunc",
            "dateTrunc bin",
            "dateAdd",
            "convert date",
            "convert 9",
            "convert date else",
        )
    ],
    "6.0 loses a second when it moves a date before 1970 that has milliseconds": [
        "one/dateAdd/date *",
        "date/add */old *",
    ],
    "arguments far out of range are refused with a code of their own": [
        "one/lastN n/d*",
        "one/round place/*",
        "one/trunc place/*",
        "two/round/*,long m*",
        "two/round/*,double *",
        "two/trunc/*,long m*",
        "two/trunc/*,double *",
        "one/substrBytes at/d*",
        "one/substrBytes len/d*",
        "one/dateTrunc/date min",
        "one/dateTrunc bin/date min",
        "one/dateTrunc size/*",
        "two/subtract/date *",
        "two/add/*decimal *",
        "one/hour zone/date max",
        "one/convert to/*",
    ],
    "$round of -2147483648 to tens wraps in 6.0; $pow beyond 64 bits of 0 is a double here": [
        "one/round -1/int min",
        "two/round/int min,int -1",
        "two/pow/int 0,long max",
        "numbers/pow/int 0,long *",
    ],
    "a constant right side has its own code in 6.0": ["one/setIsSubset/*"],
    "a NUL in a pattern matches nothing instead of failing": ["one/regexMatch by/string nul"],
    "sums are exact where 6.0 rounds on the way": [
        "group/sum/cancel",
        "group/avg/cancel",
        "group/avg bad/cancel",
    ],
    "$sigmoid, $bitAnd, $median and month names in formats came with 7.0": [
        "*/516 *",
        "*/517 *",
        "date/formats/'%b %B'",
        "date/formats field/'%b %B'",
        "date/parse as/*",
    ],
    "not supported yet, and refused by name": [
        "*/511 *",
        "*/513 *",
        "*/514 *",
        "*/515 *",
        "project/*/102 *",
        "project/stage/103 *",
        "match/4 *",
        "match/18 *",
        "out/*",
        "collStats/0 *",
        "command/find/28 *",
        "command/find/29 *",
        "command/find/30 *",
        "command/find/38 *",
        "command/find/40 *",
        "command/find/41 *",
        "command/find/52 *",
        "command/find/9? *",
        "command/count/18 *",
        "command/commitTransaction/*",
        "index/1[012]/*",
        "index/2[67]/*",
        "index/7[03456]/*",
        "catalog/53/*",
        "catalog/69/*",
        "catalog/70/*",
        "catalog/7[89]/*",
        "catalog/80/*",
    ],
    "$expr is taken as an expression too": ["*/512 *"],
    "the same refusal with another code": [
        "*/461 *",
        "project/find/52 *",
        "project/stage/52 *",
        "project/*/116 *",
        "project/stage/[89]? *",
        "project/stage/10[01] *",
        "project/positional/20 *",
        "group/avg bad/*",
        "facet/9 *",
        "lookup*/42 *",
        "command/find/7[123] *",
        "command/count/10 *",
        "command/update/45 *",
        "command/insert/87 *",
        "command/find/1?? *",
        "command/[gs]etParameter/*",
        "index/17/*",
        "catalog/21/*",
        "catalog/37/*",
        "catalog/74/*",
        "catalog/9[46]/*",
    ],
    "an option of a close type, or of no effect here, is taken": [
        "command/find/2[47] *",
        "command/count/17 *",
        "command/distinct/14 *",
        "command/update/3[69] *",
        "catalog/18/*",
        "catalog/19/*",
        "index/65/*",
        "match/16 *",
        "count/5 *",
        "facet/8 *",
        "lookup*/41 *",
    ],
    "a name that begins with a dollar is refused in $sortArray": ["sort/array/25 *"],
    "6.0 refuses comments in extended patterns without a line's end": [
        "filter/fixed/*/regex x",
        "indexed/fixed/*/regex x",
    ],
    "which of equal values stays, and the order of equal rows, is not defined": [
        "group/min/*",
        "group/max/*",
        "group/maxN/*",
    ],
    "the index of $unwind is set inside of arrays": ["unwind/15 *"],
    "a $lookup writes over a field where it stands": [
        f"lookup{kind}/{at} *" for kind in ("", " keep") for at in (6, 8, 10)
    ],
    "another edition of the time zone database; seconds of offsets before standard time": [
        "date/*parts/* EST",
        "date/*parts/far Africa*",
        "date/string/* EST",
        "date/string/far Africa*",
        "date/hour/far Africa*",
        "date/diff hour/*",
        "date/diff minute/ancient *",
    ],
    "fewer free forms of dates": [
        "date/parse/*",
        "date/parse error/*",
        "date/parse zone/*",
        "date/toDate/*",
    ],
    "6.0 takes a limit that is no number for 0 and deletes all that match": [
        "command/delete/59 *",
        "command/delete/61 *",
    ],
    "dollar names beside others are refused in a replacement that is inserted, too": [
        "upsert/*/72 *"
    ],
    "a cursor that has nothing more is closed at once": ["cursor/15/*"],
    "replies of 7.0 and later; options that mean nothing are not kept": [
        "index/2[89]/*",
        "index/38/*",
        "index/77/*",
        "catalog/0/*",
        "catalog/8/*",
        "catalog/83/*",
        "catalog/85/*",
    ],
    "NaN is no time to live": ["index/60/*"],
}
KNOWN = {glob: reason for reason, globs in REASONS.items() for glob in globs}


def expected(finding):
    """Returns whether a random finding is a known difference."""
    return any(rule(finding) for rule in RULES)


def lazily_skipped(finding):
    """A pipeline of several stages may skip fields that no later stage uses; ours evaluates
    them."""
    stages = finding.command.get("pipeline", [])
    return len(stages) > 1 and not finding.ours.get("ok") and bool(finding.theirs.get("ok"))


def expr_and_positional(finding):
    """6.0 refuses $expr beside a positional projection; here it is a filter like any other."""
    return finding.theirs.get("code") == 224


def parallel_arrays(finding):
    """Paths through two arrays may sort by the first value of each, as docs/compat says."""
    return "parallel arrays" in str(finding.theirs.get("errmsg"))


def constants_first(finding):
    """6.0 evaluates constants before it reads rows, and fails although there are none."""
    text = str(finding.theirs.get("errmsg"))
    return "Failed to optimize" in text or (
        bool(finding.ours.get("ok")) and finding.case.docs == []
    )


def evaluated_for_nothing(finding):
    """$set of a path through an empty array evaluates its value; 6.0 does so per element."""
    command = str(finding.case.commands)
    return (
        any(stage in command for stage in ("'$set'", "$addFields", "$slice"))
        and failed(finding.ours)
        and not failed(finding.theirs)
    )


def sorted_after_projection(finding):
    """6.0 may project before it sorts by an element of an array."""
    command = finding.command
    return "projection" in command and any(
        part.isdigit() for path in command.get("sort", {}) for part in path.split(".")
    )


def too_early(finding):
    """6.0 refuses a bad argument of $slice before it checks whether a later one is null."""
    return "$slice" in str(finding.case.commands) and finding.theirs.get("code") in (28724, 28725)


def joined_by_operators(finding):
    """6.0 turns the values that a $lookup joins by into a filter, and a document may look like an
    operator."""
    return "$lookup" in str(finding.case.commands) and "cannot nest $ under $in" in str(
        finding.theirs.get("errmsg")
    )


def counted_anyway(finding):
    """6.0 counts unchanged documents as modified: empty ones, and NaN changed to NaN."""
    same = finding.ours.get("n") == finding.theirs.get("n") and finding.ours.get("nModified") == 0
    statement = finding.case.commands[0].get("updates", [{}])[0]
    empty = statement.get("u") in ({}, [{"$replaceWith": {}}])
    return (
        same and finding.theirs.get("nModified") == 1 and (empty or "NaN" in str(finding.case.docs))
    )


def put_back(finding):
    """6.0 remembers the position of a field that an earlier stage removed."""
    return (
        "$unset" in str(finding.command.get("pipeline"))
        and bool(finding.ours.get("ok"))
        and bool(finding.theirs.get("ok"))
    )


RULES = [
    lazily_skipped,
    expr_and_positional,
    parallel_arrays,
    constants_first,
    evaluated_for_nothing,
    sorted_after_projection,
    too_early,
    put_back,
    joined_by_operators,
    counted_anyway,
]
