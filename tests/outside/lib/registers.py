"""Checks whether a history of one register is linearizable: some order of its operations explains
every result and respects their order in time (Wing and Gong's search).

An operation without a reply took effect at some time between its begin and its end, or never; its
end is when its server was certainly dead.
"""

from dataclasses import dataclass

FOREVER = float("inf")
#: The result of an operation without a reply.
UNKNOWN = object()


@dataclass(frozen=True)
class Operation:
    """`read`, `insert` (value), `delete` or `swap` (old, value); an absent value is None. Results:
    the value read, or whether the write was done."""

    kind: str
    begin: float
    end: float
    answer: object
    value: object = None
    old: object = None


def apply(operation, state):
    """Returns the result of an operation in this state, and the state afterwards."""
    if operation.kind == "read":
        return state, state
    if operation.kind == "insert":
        return (True, operation.value) if state is None else (False, state)
    if operation.kind == "delete":
        return state is not None, None
    assert operation.kind == "swap", operation
    return (True, operation.value) if state == operation.old else (False, state)


def is_linearizable(history, state=None):
    """Returns whether the history of one register, starting in this state, is linearizable."""
    operations = sorted(history, key=lambda one: one.begin)
    wanted = sum(1 << at for at, one in enumerate(operations) if one.answer is not UNKNOWN)
    # The set of operations that were applied, as a bit mask, and the resulting state.
    stack, seen = [(0, state)], {(0, state)}
    while stack:
        done, state = stack.pop()
        if done & wanted == wanted:
            return True
        for at in nexts(operations, done):
            answer, after = apply(operations[at], state)
            if operations[at].answer is UNKNOWN:
                # Without a reply and without effect, it need not have happened.
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
    """Returns the candidates for the next operation: begun before any other unapplied one ended;
    without a reply, only while none is applied that began after its end."""
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
    """Returns a text for each register whose history is not linearizable, with its operations."""
    texts = []
    for id, history in registers.items():
        if not is_linearizable(history):
            lines = "\n".join(str(one) for one in sorted(history, key=lambda one: one.begin))
            texts.append(f"register {id} is not linearizable:\n{lines}")
    return texts
