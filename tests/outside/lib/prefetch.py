"""Prefetches results: runs slow cases in parallel before the tests need them, since servers mostly
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
    # Creates the base directory of all tests now: its first use is not thread-safe.
    request.getfixturevalue("tmp_path_factory").getbasetemp()
    pool = ThreadPoolExecutor(WORKERS)
    try:
        for case in cases:
            cases[case] = pool.submit(run, *case)
        yield lambda *case: cases[case].result()
    finally:
        pool.shutdown(cancel_futures=True)


def fixture(run, *names):
    """Returns a module-scoped fixture that yields the function of `prefetched`."""

    @pytest.fixture(scope="module")
    def results(request):
        with prefetched(request, run, *names) as result:
            yield result

    return results
