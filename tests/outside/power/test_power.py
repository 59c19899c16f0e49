"""The power is cut while both APIs write: acknowledged writes are present after the next start,
refused and removed ones are not, and the directory is undamaged.

ROUNDS is the number of cuts on each kind of file system (default 3; 300 with --torture), SEED seeds
them. All rounds of one kind use the same file system. With KEEP=1 it is kept, beside a copy of its
state after the last cut and the replies that the writers got.
"""

import os

import pytest
from lib.seed import SEED, TORTURE
from lib.server import Server

from power.disk import Disk
from power.load import PowerLoad

ROUNDS = int(os.environ.get("ROUNDS", 300 if TORTURE else 3))
#: Small, so that memory is flushed, tables are merged and the journal is truncated all the time.
MEMORY = "128m"
MEGABYTES = 600


@pytest.mark.parametrize(("kind", "clock"), [("ext4", "manual"), ("xfs", "system")])
def test_the_power_goes(kind, clock, report):
    flags = ["--memory", MEMORY, "--reap-delay", "0"]
    with (
        Disk(kind, MEGABYTES) as disk,
        Server(data_dir=disk.path / "data", clock=clock, flags=flags, nosql=True) as server,
    ):
        load = PowerLoad(server, disk)
        for round in range(ROUNDS):
            try:
                load.round()
                load.start()
                wrong = load.compare()
                assert wrong == [], "\n".join(wrong[:10])
            except BaseException as error:
                kept = ""
                if disk.keeps:
                    (disk.home / "trails").write_text(load.trails() + f"\n{error}\n")
                    kept = f" (kept in {disk.home} and {server.home})"
                raise AssertionError(f"SEED={SEED}, round {round}{kept}: {error}") from error
        server.end()
    report(
        "F4",
        ROUNDS,
        f"power cuts on {kind}",
        seed=SEED,
        more_during_a_start=load.starts_cut,
        acknowledged=load.all_acks(),
        refused=load.refusals(),
        large_loads=load.loader.loads,
        slowest_start=f"{load.slowest:.2f} s",
    )
    assert load.all_acks() > 5 * ROUNDS, "hardly any load"
