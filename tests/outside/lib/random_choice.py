"""Random choices by weight."""


def weighted(random, weights):
    """Returns one of the keys of `weights`; its number says how likely it is."""
    [chosen] = random.choices(list(weights), weights.values())
    return chosen
