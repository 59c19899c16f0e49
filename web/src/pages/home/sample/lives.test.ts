import { expect, test } from 'vitest';
import { alive, deathOf } from './lives';

test.each([
  [100, undefined, null, null],
  [100, 5, null, null],
  [100, undefined, -1, null],
  [100, 5, -1, 105_000],
  [100, undefined, 60, 160_000],
  [100, -1, 60, null],
  [100, 5, 60, 105_000],
])('written at %i with ttl %s under default %s: dies at %s', (ts, ttl, standard, want) => {
  expect(deathOf(ts, ttl, standard)).toBe(want);
});

test('a deadline that is reached has passed', () => {
  const lives = [
    { name: 'a', expiresAtMs: 1000 },
    { name: 'b', expiresAtMs: 1001 },
    { name: 'c', expiresAtMs: null },
  ];
  expect(alive(lives, 1000).map(({ name }) => name)).toEqual(['b', 'c']);
});
