"""Whether two kinds of requests take the same time: Welch's t, as dudect uses it."""

import math
import statistics

#: Beyond this the difference is no accident.
SIGNIFICANT = 4.5
#: Parts of the measurements that are kept: what is slower was disturbed.
KEPT = (0.5, 0.75, 0.9, 0.97, 1.0)


def welch(a, b):
    """The t of two samples."""
    spread = statistics.variance(a) / len(a) + statistics.variance(b) / len(b)
    return (statistics.fmean(a) - statistics.fmean(b)) / math.sqrt(spread) if spread else 0.0


def cropped(a, b, part):
    """Both without what is slower than so large a part of both together."""
    both = sorted([*a, *b])
    limit = both[min(len(both) - 1, int(part * len(both)))]
    return [it for it in a if it <= limit], [it for it in b if it <= limit]


def by_part(a, b):
    """The t of each part that is kept."""
    return {part: welch(*cropped(a, b, part)) for part in KEPT}


def largest(a, b):
    return max(by_part(a, b).values(), key=abs)
