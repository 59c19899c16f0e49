import { expect, test } from 'vitest';
import { keptSeconds, lastSeconds, MOST_KEPT, nothingDone, undoSeconds } from './many';
import { deletionWords, outcomeWords, ttlWords } from './words';

const on = { noun: 'item', defaultTtl: 60, perDocument: true } as const;

test('a deletion says whether it can be undone', () => {
  expect(deletionWords(on, 3)).toMatch(
    /^They leave the list immediately and expire within 1 minute/,
  );
  expect(deletionWords({ ...on, defaultTtl: null }, 1)).toBe(
    'TTL is off here: it is deleted immediately and cannot be restored.',
  );
  expect(deletionWords({ ...on, perDocument: false }, 2)).toMatch(/^Per-document TTL is off/);
  expect(deletionWords({ ...on, defaultTtl: -1 }, MOST_KEPT + 1)).toMatch(/cannot be restored/);
});

test('a ttl that will not be heeded is told', () => {
  expect(ttlWords(on, 3600, 2)).toBe('2 items will expire 1 hour from now.');
  expect(ttlWords({ ...on, defaultTtl: null }, -1, 1)).toMatch(/TTL is off/);
});

test('an outcome counts all that was looked at', () => {
  const outcome = {
    ...nothingDone(),
    gone: ['a'],
    theirs: ['b', 'c'],
    failed: { count: 1, why: 'The disk is full.' },
  };
  expect(outcomeWords(on, 'delete', outcome)).toBe(
    'Deleted 0 items; 1 no longer existed; 2 changed by others, left unchanged; 1 failed: The disk is full.',
  );
});

test('what would expire sooner does not live longer by being deleted', () => {
  const row = (expiresAtMs: number | null) => ({
    ...{ key: 'a', name: 'a', value: {}, ref: null },
    expiry: { expiresAtMs, by: null, reason: null },
  });
  expect([null, 1_000_000, 30_500, 1200, 1].map((at) => lastSeconds(row(at), 500, 60))).toEqual([
    ...[60, 60, 30, 1, 1],
  ]);
});

test('many are kept until the last is put back, which takes as long as their deletion or longer', () => {
  expect([1, 100, 101, 18_000, MOST_KEPT].map(keptSeconds)).toEqual([60, 60, 65, 780, 860]);
  // At 250 deletions per second and half that rate of restoring, the first item is restored before
  // it expires.
  for (const n of [500, 3000, 18_000]) {
    const took = n / 250;
    expect(took + undoSeconds(n, took * 1000) + 2 * took).toBeLessThanOrEqual(keptSeconds(n) + 1);
    expect(undoSeconds(n, took * 1000)).toBeGreaterThanOrEqual(60);
  }
  expect(undoSeconds(2, 3000)).toBe(60);
  expect(undoSeconds(18_000, 1_000_000)).toBe(5);
});
