"""Whether a history of one register is linearizable: some order of its operations explains every
answer, and keeps each operation that ended before another began before it (Wing and Gong's search).

An operation without an answer took place at some time after its begin, or never.
"""

from dataclasses import dataclass

FOREVER = float("inf")
#: What an operation without an answer answered.
UNKNOWN = object()


@dataclass(frozen=True)
class Operation:
    """`read`, `insert` (value), `delete`, `swap` (old, value); absent is None. Answers: the value
    read, or whether it was done."""

    kind: str
    begin: float
    end: float
    answer: object
    value: object = None
    old: object = None


def apply(operation, state):
    """The answer that this state gives, and the state afterwards."""
    if operation.kind == "read":
        return state, state
    if operation.kind == "insert":
        return (True, operation.value) if state is None else (False, state)
    if operation.kind == "delete":
        return state is not None, None
    assert operation.kind == "swap", operation
    return (True, operation.value) if state == operation.old else (False, state)


def is_linearizable(history, state=None):
    """Whether the history of one register that begins in this state is linearizable."""
    operations = sorted(history, key=lambda one: one.begin)
    wanted = sum(1 << at for at, one in enumerate(operations) if one.answer is not UNKNOWN)
    # What is done, as bits, and the state it left.
    stack, seen = [(0, state)], {(0, state)}
    while stack:
        done, state = stack.pop()
        if done & wanted == wanted:
            return True
        for at in nexts(operations, done):
            answer, after = apply(operations[at], state)
            if operations[at].answer not in (UNKNOWN, answer):
                continue
            there = done | 1 << at, after
            if there not in seen:
                seen.add(there)
                stack.append(there)
    return False


def nexts(operations, done):
    """Those that may be next: not done, and begun before any other that is not done has ended."""
    found, first_end = [], FOREVER
    for at, one in enumerate(operations):
        if one.begin > first_end:
            break
        if not done >> at & 1:
            found.append(at)
            first_end = min(first_end, one.end)
    return [at for at in found if operations[at].begin <= first_end]
