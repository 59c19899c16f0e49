"""Random choices by weight."""


def weighted(random, weights):
    """Returns a key of `weights`, chosen with the probability that its weight gives it."""
    [chosen] = random.choices(list(weights), weights.values())
    return chosen
