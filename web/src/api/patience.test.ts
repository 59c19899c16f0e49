import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { comeBackAfter, MOST_AGAIN, MOST_WAIT_MS, patiently, waiting } from './patience';

const refusal = (status: number, ms?: string) => ({
  status,
  headers: new Headers(ms === undefined ? {} : { 'x-ms-retry-after-ms': ms }),
});
const done = { status: 200, headers: new Headers() };

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test.each<[number, string | undefined, number | null]>([
  [429, '20', 20],
  [503, '0', 0],
  [449, '1.5', 1.5],
  // Too many failed logins: not retried automatically.
  [429, undefined, null],
  [503, undefined, null],
  [429, 'soon', null],
  [429, '-1', null],
  [412, '20', null],
  [200, '20', null],
])('status %i, come back after %s', (status, ms, want) =>
  expect(comeBackAfter(refusal(status, ms))).toBe(want),
);

test('waits as long as it was told, and no longer than it is told so', async () => {
  const answers = [refusal(429, '300'), refusal(429, '200'), done];
  const again = vi.fn(() => Promise.resolve(answers.shift() ?? done));
  const answered = patiently(refusal(429, '100'), again);
  expect(waiting.get()).toBe(1);
  await vi.advanceTimersByTimeAsync(99);
  expect(again).toHaveBeenCalledTimes(0);
  await vi.advanceTimersByTimeAsync(1);
  expect(again).toHaveBeenCalledTimes(1);
  await vi.advanceTimersByTimeAsync(500);
  expect(again).toHaveBeenCalledTimes(3);
  expect(await answered).toBe(done);
  expect(waiting.get()).toBe(0);
});

test.each([
  [20, MOST_AGAIN],
  [MOST_WAIT_MS / 4, 4],
  [MOST_WAIT_MS + 1, 0],
])('refused for %i ms again and again, it is sent %i times more', async (ms, times) => {
  const again = vi.fn(() => Promise.resolve(refusal(429, String(ms))));
  const answered = patiently(refusal(429, String(ms)), again);
  await vi.advanceTimersByTimeAsync(10 * MOST_WAIT_MS);
  expect((await answered).status).toBe(429);
  expect(again).toHaveBeenCalledTimes(times);
  expect(waiting.get()).toBe(0);
});

test('one that is cancelled waits no longer, and is not sent', async () => {
  const abort = new AbortController();
  const again = vi.fn(() => Promise.resolve(done));
  const answered = expect(patiently(refusal(429, '1000'), again, abort.signal)).rejects.toThrow(
    'left',
  );
  await vi.advanceTimersByTimeAsync(10);
  abort.abort(new Error('left'));
  await answered;
  await vi.advanceTimersByTimeAsync(5000);
  expect(again).not.toHaveBeenCalled();
  expect(waiting.get()).toBe(0);
});

test('what is not refused is not waited for', async () => {
  expect(await patiently(done, () => Promise.reject(new Error('sent')))).toBe(done);
});
