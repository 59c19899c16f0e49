"""Whether a history of one register is linearizable: some order of its operations explains every
answer, and keeps each operation that ended before another began before it (Wing and Gong's search).

An operation without an answer took place at some time between its begin and its end, or never; its
end is when the server that it was sent to had died for sure.
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
            if operations[at].answer is UNKNOWN:
                # One that changes nothing need not have been done.
                if after == state:
                    continue
            elif operations[at].answer != answer:
                continue
            there = done | 1 << at, after
            if there not in seen:
                seen.add(there)
                stack.append(there)
    return False


def nexts(operations, done):
    """Those that may be next: not done, begun before any other that is not done has ended, and
    without an answer only if nothing is done that began after their end."""
    found, first_end = [], FOREVER
    last = operations[done.bit_length() - 1].begin if done else -FOREVER
    for at, one in enumerate(operations):
        if one.begin > first_end:
            break
        if done >> at & 1:
            continue
        if one.answer is not UNKNOWN:
            first_end = min(first_end, one.end)
        elif one.end < last:
            continue
        found.append(at)
    return [at for at in found if operations[at].begin <= first_end]


def wrong(registers):
    """Which of these histories, by register, are not linearizable, and their operations."""
    texts = []
    for id, history in registers.items():
        if not is_linearizable(history):
            lines = "\n".join(str(one) for one in sorted(history, key=lambda one: one.begin))
            texts.append(f"register {id} is not linearizable:\n{lines}")
    return texts
