"""Ways in which another node comes to own the data, after each of which all nodes serve again."""


def killed(cluster):
    """Another node owns the data, and the one that did runs again."""
    owner = cluster.owner()
    owner.kill()
    cluster.owner(but=[owner])
    owner.start()
    cluster.whole()


def started_again(cluster):
    """kill -9 of the owner, whose supervisor starts it at once."""
    owner = cluster.owner()
    owner.kill()
    owner.start()
    cluster.whole()


def ended(cluster):
    """SIGTERM of the owner, which runs again."""
    owner = cluster.owner()
    owner.leave()
    cluster.owner(but=[owner])
    owner.start()
    cluster.whole()


def handed_over(cluster):
    [to, *_] = cluster.followers()
    cluster.hand_over(to)
    cluster.owner()


TAKE_OVERS = {
    "kill": killed,
    "restart": started_again,
    "SIGTERM": ended,
    "hand-over": handed_over,
}
