import { expect, test } from 'vitest';
import { leftInWords, type Mark, marked, paceOf } from './pace';

const mark = (atMs: number): Mark => ({ atMs, documents: atMs, bytes: atMs * 10 });

test('the pace is that of the last seconds', () => {
  expect(paceOf([], 100)).toBeNull();
  expect(paceOf([mark(0), mark(100)], 100)).toBeNull();
  expect(paceOf([mark(0), mark(1000)], 40_000)).toEqual({ rate: 1000, left: 3 });
  expect(paceOf([mark(0), mark(1000)], null)).toEqual({ rate: 1000, left: null });
  const standing = { ...mark(0), atMs: 2000 };
  expect(paceOf([mark(0), standing], 100)).toEqual({ rate: 0, left: null });
  expect(marked([mark(0), mark(5000)], mark(9000))).toEqual([mark(5000), mark(9000)]);
});

test.each([
  [0, 'about 1 second left'],
  [59, 'about 59 seconds left'],
  [124, 'about 2 minutes left'],
])('%d s: %s', (seconds, want) => expect(leftInWords(seconds)).toBe(want));
