import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { arrival, early, loadEarly } from './arrival';
import { server } from './server';

const known = server.get();
let answers = true;

beforeEach(() => {
  vi.useFakeTimers();
  answers = true;
  vi.stubGlobal('fetch', () =>
    answers
      ? Promise.resolve(Response.json({ clock: {} }))
      : Promise.reject(new TypeError('refused')),
  );
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
  server.set(known);
});

/** Fails `times` times, then succeeds; counts calls. */
function failing(times: number) {
  return vi.fn(() => {
    times -= 1;
    return times < 0 ? Promise.resolve('it') : Promise.reject(new Error('not loaded'));
  });
}

test('what loads is loaded once', async () => {
  const load = failing(0);
  await expect(arrival(load)).resolves.toBe('it');
  expect(load).toHaveBeenCalledTimes(1);
});

test('what is here already does not wait for a silent server', async () => {
  server.update((state) => ({ ...state, silentSince: 1 }));
  await expect(arrival(failing(0))).resolves.toBe('it');
});

test('what is registered is loaded early, also behind what fails', async () => {
  const [bad, good] = [early(failing(Infinity)), early(failing(0))];
  loadEarly()();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(bad).not.toHaveBeenCalled();
  loadEarly();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(bad).toHaveBeenCalledTimes(1);
  expect(good).toHaveBeenCalledTimes(1);
});

test('a silence that nobody has noticed is waited for, however long it lasts', async () => {
  answers = false;
  const load = failing(1);
  const arrived = arrival(load);
  await vi.advanceTimersByTimeAsync(600_000);
  expect(server.get().silentSince).not.toBeNull();
  expect(load).toHaveBeenCalledTimes(1);
  server.update((state) => ({ ...state, silentSince: null }));
  await expect(arrived).resolves.toBe('it');
});

test('what goes on failing while the server answers has failed', async () => {
  const load = failing(Infinity);
  const arrived = expect(arrival(load)).rejects.toThrow('not loaded');
  await vi.advanceTimersByTimeAsync(60_000);
  await arrived;
  expect(load).toHaveBeenCalledTimes(3);
});
