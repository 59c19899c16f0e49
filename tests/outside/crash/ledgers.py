"""Combined checks of the ledgers of all writers of one API against a restarted server."""


def settle(found, span, writers, crashed):
    """Returns the errors in the documents that were found, by key, during this span of time."""
    wrong = [text for writer in writers for text in writer.wrong]
    known = {("counters", "shared")}
    for writer in writers:
        ledger = writer.ledger
        known |= ledger.acked.keys() | ledger.pending.keys()
        wrong += ledger.settle(found, *span, crashed)
    return wrong + [f"nobody wrote {key}" for key in found.keys() - known]


def counter(n, writers):
    """Checks the shared counter with value `n`: no reply twice, no increment lost."""
    answers = sorted(answer for writer in writers for answer in writer.counted)
    wrong = []
    if len(set(answers)) != len(answers):
        wrong.append("two requests were answered with the same count")
    if answers and n < answers[-1]:
        wrong.append(f"the counter lost: {n} < {answers[-1]}")
    return wrong


def unique(rows, what):
    """Checks that no two rows have the same value of `u`."""
    values = [row["u"] for row in rows]
    return [f"{what} twice: {sorted(values)}"] if len(set(values)) != len(values) else []
