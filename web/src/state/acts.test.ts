import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { acted, acts } from './acts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.runAllTimers();
  vi.useRealTimers();
});

test('the first change is told of at once, and those after it together', () => {
  const before = acts.get();
  const told = () => acts.get() - before;
  acted();
  expect(told()).toBe(1);
  for (let n = 0; n < 1000; n += 1) acted();
  expect(told()).toBe(1);
  vi.advanceTimersByTime(2000);
  expect(told()).toBe(2);
  vi.advanceTimersByTime(60_000);
  expect(told()).toBe(2);
  acted();
  expect(told()).toBe(3);
});
