"""One bit of a data directory is flipped: the server then shows the correct contents, or refuses
the directory (exit code 3), or reports the damage when it is read. Data is never missing without an
error, and there is never a signal or another exit code.

FLIPS is the number of flips (default 60; 10,000 with --torture), SEED seeds them, WORKERS is the
number of concurrent ones (ten take 50 minutes for 10,000).
"""

import collections
import concurrent.futures
import os
import random
import shutil
import subprocess

import pytest
from lib.seed import SEED, TORTURE
from lib.server import EBB_BIN, Server, copied

from flips import flip
from flips.image import Damaged, build, look

FLIPS = int(os.environ.get("FLIPS", 10_000 if TORTURE else 60))
#: Each flip mostly waits, so several run concurrently.
WORKERS = int(os.environ.get("WORKERS", "2"))
#: Exit codes of `ebb verify`: undamaged, differences that are named, refused.
WHOLE, DIFFERENT, REFUSED = 0, 1, 3


def verified(directory):
    """Runs `ebb verify`; returns its exit code, which is one of three, each but the first with a
    reason."""
    ended = subprocess.run(
        [EBB_BIN, "verify", "--data-dir", str(directory)],
        capture_output=True,
        text=True,
        timeout=60,
    )
    text = ended.stdout + ended.stderr
    assert "panicked" not in text, text[-500:]
    assert ended.returncode in (WHOLE, DIFFERENT, REFUSED), (
        f"verify: {ended.returncode} {text[-300:]}"
    )
    if ended.returncode == DIFFERENT:
        named = any(line.startswith(" ") for line in ended.stdout.splitlines())
        assert named, f"verify: 1 without a difference: {text[-300:]}"
    assert ended.returncode == WHOLE or text.strip(), "verify gives no reason"
    return ended.returncode


def served(directory, truth):
    """Returns the result of a server on the directory."""
    server = Server(data_dir=directory, nosql=True)
    try:
        try:
            server.start()
        except AssertionError as failure:
            code = server.process.poll()
            assert code == REFUSED, f"start: {failure}"
            assert "panicked" not in str(failure), f"start: {failure}"
            return "refused"
        try:
            found = look(server, truth["token"])
        except Damaged:
            assert server.alive(), "it ended when damage was met"
            return "told"
        wrong = [
            f"{key}: {short(found.get(key))} instead of {short(truth[key])}"
            for key in truth
            if found.get(key) != truth[key]
        ]
        assert not wrong, f"served in silence: {wrong[:3]}"
        return "truth"
    finally:
        server.close()


def short(value):
    if isinstance(value, dict):
        return f"{len(value)} of them"
    return str(value)[:200]


def attempt(image, truth, home, number, chosen):
    """Tests one flip; returns its result, and the error."""
    directory = home / f"flip{number}"
    copied(image, directory)
    try:
        flip.flip(directory, *chosen)
        said = verified(directory)
        if said == REFUSED and number % 4:
            # A start makes verify's first checks too, so it is tested only sometimes.
            return "verify 3", None
        # verify may have truncated a torn write, so the server gets a copy of its own.
        shutil.rmtree(directory)
        copied(image, directory)
        flip.flip(directory, *chosen)
        did = served(directory, truth)
        assert did == "truth" or said != WHOLE, f"the server has {did}, verify found nothing"
        return f"verify {said}, {did}", None
    except (AssertionError, subprocess.TimeoutExpired, OSError) as problem:
        return "wrong", f"{chosen[0]} at {chosen[1]}, bit {chosen[2]}: {str(problem)[:300]}"
    finally:
        shutil.rmtree(directory, ignore_errors=True)


@pytest.fixture(scope="module")
def image(tmp_path_factory):
    path = tmp_path_factory.mktemp("flips") / "data"
    return path, build(path)


def test_the_image_itself(image, tmp_path):
    """Without a flip it is undamaged and shows the expected contents."""
    path, truth = image
    for name in ("a", "b"):
        copied(path, tmp_path / name)
    assert verified(tmp_path / "a") == WHOLE
    assert served(tmp_path / "b", truth) == "truth"


def test_flips(image, tmp_path, report):
    path, truth = image
    files, rng = flip.kinds(path), random.Random(SEED)
    chosen = [flip.choose(rng, files) for _ in range(FLIPS)]
    outcomes, wrong = collections.Counter(), []
    with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
        for outcome, problem in pool.map(
            lambda it: attempt(path, truth, tmp_path, *it), enumerate(chosen)
        ):
            outcomes[outcome] += 1
            wrong += [problem] if problem else []
    told = "; ".join(f"{count} {outcome}" for outcome, count in outcomes.most_common())
    report("F6", FLIPS, f"flips in {len(files)} kinds of files", seed=SEED, outcomes=told)
    assert not wrong, f"SEED={SEED}, {len(wrong)} of {FLIPS}:\n" + "\n".join(sorted(wrong)[:25])
