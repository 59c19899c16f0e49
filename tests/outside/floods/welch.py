"""Decides whether two kinds of requests take the same time: Welch's t-test, as in dudect."""

import math
import statistics

#: Threshold of t beyond which a difference is significant.
SIGNIFICANT = 4.5
#: Fractions of the samples that are kept; slower ones were probably disturbed.
KEPT = (0.5, 0.75, 0.9, 0.97, 1.0)


def welch(a, b):
    """Returns Welch's t of two samples."""
    spread = statistics.variance(a) / len(a) + statistics.variance(b) / len(b)
    return (statistics.fmean(a) - statistics.fmean(b)) / math.sqrt(spread) if spread else 0.0


def cropped(a, b, part):
    """Returns both samples without values above this quantile of both together."""
    both = sorted([*a, *b])
    limit = both[min(len(both) - 1, int(part * len(both)))]
    return [it for it in a if it <= limit], [it for it in b if it <= limit]


def by_part(a, b):
    """Returns t for each fraction that is kept."""
    return {part: welch(*cropped(a, b, part)) for part in KEPT}


def largest(a, b):
    return max(by_part(a, b).values(), key=abs)
