"""Ways in which another node becomes the owner. After each, all nodes serve again."""


def killed(cluster):
    """SIGKILL of the owner; it is started again after another node took over."""
    owner = cluster.owner()
    owner.kill()
    cluster.owner(but=[owner])
    owner.start()
    cluster.whole()


def started_again(cluster):
    """SIGKILL of the owner, which is started again at once, as by a supervisor."""
    owner = cluster.owner()
    owner.kill()
    owner.start()
    cluster.whole()


def ended(cluster):
    """SIGTERM of the owner; it is started again after another node took over."""
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
