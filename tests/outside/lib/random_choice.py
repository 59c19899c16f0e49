"""Random choices by weight."""


def weighted(random, weights):
    """One of the keys of `weights`, as likely as its number says."""
    [chosen] = random.choices(list(weights), weights.values())
    return chosen
