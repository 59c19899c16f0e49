"""Wraps the asynchronous client in the calls of the synchronous one, so that each test runs with
both."""

import inspect


def blocking(value, loop):
    """Waits for awaitable values, now or when they are used."""
    if isinstance(value, tuple):
        return tuple(blocking(part, loop) for part in value)
    if inspect.isawaitable(value):
        return blocking(loop.run_until_complete(_wait(value)), loop)
    if hasattr(value, "__aiter__"):
        return Iterated(value, loop)
    if type(value).__module__.startswith("azure.cosmos.aio"):
        return Proxy(value, loop)
    return value


async def _wait(value):
    return await value


class Proxy:
    """A proxy for a client, database, container, user and the like."""

    def __init__(self, target, loop):
        self._target, self._loop = target, loop

    def __getattr__(self, name):
        value = getattr(self._target, name)
        if not callable(value):
            return blocking(value, self._loop)

        def call(*args, **kwargs):
            args = [getattr(arg, "_target", arg) for arg in args]
            return blocking(value(*args, **kwargs), self._loop)

        return call


class Iterated:
    """A synchronous iterator over items or pages."""

    def __init__(self, target, loop):
        self._target, self._loop, self._iterator = target, loop, None

    def __iter__(self):
        return self

    def __next__(self):
        if self._iterator is None:
            self._iterator = self._target.__aiter__()
        try:
            return blocking(
                self._loop.run_until_complete(_wait(self._iterator.__anext__())), self._loop
            )
        except StopAsyncIteration:
            raise StopIteration from None

    def by_page(self, *args):
        return Iterated(self._target.by_page(*args), self._loop)

    def __getattr__(self, name):
        return getattr(self._target, name)
