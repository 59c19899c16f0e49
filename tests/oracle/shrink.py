"""Shrinks a differing case: drops documents and parts of commands while it still differs in the
same way."""

from dataclasses import replace

from both.compare import run_case
from both.outcome import size

ATTEMPTS = 600


def shrunk(pair, finding):
    """Returns a finding of the same kind from the smallest case that was found."""
    best, attempts = finding, 0
    progress = True
    while progress and attempts < ATTEMPTS:
        progress = False
        for smaller in candidates(best.case):
            attempts += 1
            if attempts >= ATTEMPTS:
                break
            found = run_case(pair, smaller)
            if found and found.kind() == finding.kind():
                best, progress = found, True
                break
    return best


def candidates(case):
    """Returns cases that are a little smaller, the smallest first."""
    out = [replace(case, docs=docs) for docs in smaller_values(case.docs) if valid(docs)]
    for at, command in enumerate(case.commands):
        for smaller in smaller_values(command):
            if (
                isinstance(smaller, dict)
                and next(iter(smaller), None) == next(iter(command))
                and smaller[next(iter(command))] == command[next(iter(command))]
            ):
                out.append(
                    replace(case, commands=[*case.commands[:at], smaller, *case.commands[at + 1 :]])
                )
    for smaller in smaller_values(case.ours_first):
        out.append(replace(case, ours_first=smaller))
    return sorted(out, key=lambda one: size([one.docs, one.commands, one.ours_first]))


def valid(docs):
    """Returns whether ids are increasing integers, so that both servers return the same order."""
    if not isinstance(docs, list) or not all(isinstance(doc, dict) for doc in docs):
        return False
    ids = [doc.get("_id") if next(iter(doc), None) == "_id" else None for doc in docs]
    return all(isinstance(one, int) for one in ids) and ids == sorted(set(ids))


def smaller_values(value):
    """Yields the value with one part dropped, replaced by its contents, or simplified."""
    if isinstance(value, dict):
        for key in value:
            yield {k: v for k, v in value.items() if k != key}
            if isinstance(value[key], (dict, list)):
                yield value[key]
            for smaller in smaller_values(value[key]):
                yield {k: (smaller if k == key else v) for k, v in value.items()}
    elif isinstance(value, list):
        for at, inner in enumerate(value):
            yield value[:at] + value[at + 1 :]
            if isinstance(inner, (dict, list)):
                yield inner
            for smaller in smaller_values(inner):
                yield [*value[:at], smaller, *value[at + 1 :]]
    elif value is not None and not (isinstance(value, (int, str)) and value in (0, 1, "", "a")):
        yield 1
