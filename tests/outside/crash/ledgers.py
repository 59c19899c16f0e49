"""What the ledgers of all writers of one door say together about a restarted server."""


def settle(found, span, writers, crashed):
    """What is wrong with what was found in this span of time, by key."""
    wrong = [text for writer in writers for text in writer.wrong]
    known = {("counters", "shared")}
    for writer in writers:
        ledger = writer.ledger
        known |= ledger.acked.keys() | ledger.pending.keys()
        wrong += ledger.settle(found, *span, crashed)
    return wrong + [f"nobody wrote {key}" for key in found.keys() - known]


def counter(n, writers):
    """The shared counter stands at n: no answer twice, none lost."""
    answers = sorted(answer for writer in writers for answer in writer.counted)
    wrong = []
    if len(set(answers)) != len(answers):
        wrong.append("two requests were answered with the same count")
    if answers and n < answers[-1]:
        wrong.append(f"the counter lost: {n} < {answers[-1]}")
    return wrong


def unique(rows, what):
    """No two rows hold the same value of `u`."""
    values = [row["u"] for row in rows]
    return [f"{what} twice: {sorted(values)}"] if len(set(values)) != len(values) else []
