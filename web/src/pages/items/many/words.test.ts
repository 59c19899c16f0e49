import { expect, test } from 'vitest';
import { lastSeconds, MOST_KEPT, nothingDone } from './many';
import { deletionWords, outcomeWords, ttlWords } from './words';

const on = { noun: 'item', defaultTtl: 60, perDocument: true } as const;

test('a deletion says whether it can be undone', () => {
  expect(deletionWords(on, 3)).toMatch(/^They leave the list at once and expire within 60 seconds/);
  expect(deletionWords({ ...on, defaultTtl: null }, 1)).toBe(
    'TTL is off here: it is gone at once and cannot be brought back.',
  );
  expect(deletionWords({ ...on, perDocument: false }, 2)).toMatch(/^Per-document TTL is off/);
  expect(deletionWords({ ...on, defaultTtl: -1 }, MOST_KEPT + 1)).toMatch(/cannot be brought back/);
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
    'Deleted 0 items; 1 had gone already; 2 changed by others meanwhile, left as they are; 1 failed: The disk is full.',
  );
});

test('what would expire sooner does not live longer by being deleted', () => {
  const row = (expiresAtMs: number | null) => ({
    ...{ key: 'a', name: 'a', value: {}, ref: null },
    expiry: { expiresAtMs, by: null, reason: null },
  });
  expect([null, 1_000_000, 30_500, 1200, 1].map((at) => lastSeconds(row(at), 500))).toEqual([
    ...[60, 60, 30, 1, 1],
  ]);
});
