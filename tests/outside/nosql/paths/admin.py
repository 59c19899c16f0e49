"""Paths of the admin address: the forecast, the preview, and counters of containers."""

from nosql.paths.table import read


@read("forecast: live items")
def live(cell):
    counts = [cell.server.expiry("r", name)["live"]["documents"] for name in ("r", "v")]
    alive, dead = (len(cell.living(life)) for life in (True, False))
    return cell.agreed(cell.judge(count, alive, dead) for count in counts)


@read("forecast: the next hour")
def hour(cell):
    """Checks the expirations of the next hour, without already expired items."""
    within = cell.server.expiry("r", "r")["dies_within"]["hour"]["documents"]
    return either(cell, within, cell.dies_soon)


def either(cell, count, test):
    """Judges a count of live items of some kind, if the count depends on expiry."""
    alive, dead = (sum(map(test, cell.living(life))) for life in (True, False))
    if alive == dead:
        assert count == alive, count
        return live(cell)
    return cell.judge(count, alive, dead)


@read("forecast: exact")
def exact(cell):
    assert cell.server.expiry("r", "r")["exact"] is True
    assert cell.server.expiry("r", "v")["exact"] is True
    return live(cell)


@read("preview")
def preview(cell):
    """With a default TTL of a second, items that inherit it expire, except expired ones."""
    dies = cell.server.expiry("r", "r", {"default": 1})["dies_now"]["documents"]
    return either(cell, dies, cell.dies)


@read("preview of no default")
def preview_of_off(cell):
    reply = cell.server.expiry("r", "r", {"default": None})
    assert reply["dies_now"]["documents"] == 0, reply
    return live(cell)


@read("quota of the container")
def quota(cell):
    reply = cell.c.get({"x-ms-documentdb-populatequotainfo": "True"})
    usage = dict(
        pair.split("=") for pair in reply.headers["x-ms-resource-usage"].strip(";").split(";")
    )
    return cell.judge(
        int(usage["documentsCount"]), *(len(cell.living(life)) for life in (True, False))
    )
