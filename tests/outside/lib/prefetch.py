"""Prefetches results: runs slow cases side by side before the tests ask for them, since servers
wait for disks."""

import contextlib
from concurrent.futures import ThreadPoolExecutor

import pytest

WORKERS = 4


@contextlib.contextmanager
def prefetched(request, run, *names, test=None):
    """Calls `run(*case)` for each case of parameters `names` among the chosen tests of `test`.

    Yields a function that waits for a case's result, and returns or raises it.
    """
    cases = {}
    for item in request.session.items:
        parameters = getattr(getattr(item, "callspec", None), "params", {})
        ours = item.module is request.module and (test is None or item.originalname == test)
        if ours and all(name in parameters for name in names):
            cases.setdefault(tuple(parameters[name] for name in names))
    # The directory of all tests is made by whoever asks first, which must not be two threads.
    request.getfixturevalue("tmp_path_factory").getbasetemp()
    pool = ThreadPoolExecutor(WORKERS)
    try:
        for case in cases:
            cases[case] = pool.submit(run, *case)
        yield lambda *case: cases[case].result()
    finally:
        pool.shutdown(cancel_futures=True)


def fixture(run, *names):
    """A fixture of a module whose tests ask it for the results of their cases."""

    @pytest.fixture(scope="module")
    def results(request):
        with prefetched(request, run, *names) as result:
            yield result

    return results
