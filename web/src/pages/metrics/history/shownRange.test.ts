import { expect, test } from 'vitest';
import { addressOf, type Shown, shownOf } from './shownRange';

const from = Date.parse('2026-11-27T03:00:00Z');
const to = from + 600_000;

test.each<[string, Shown]>([
  ['', { kind: 'hours', hours: 1 }],
  ['hours=6', { kind: 'hours', hours: 6 }],
  ['hours=24', { kind: 'hours', hours: 24 }],
  [
    'from=2026-11-27T03:00:00.000Z&to=2026-11-27T03:10:00.000Z',
    { kind: 'part', range: { from, to } },
  ],
])('%o says %o, and is written so', (address, shown) => {
  expect(shownOf(new URLSearchParams(address))).toEqual(shown);
  const said = Object.entries(addressOf(shown)).filter(([, value]) => value !== null);
  expect(said).toEqual([...new URLSearchParams(address)]);
});

test.each([
  'hours=7',
  'from=2026-11-27T03:00:00Z',
  'from=x&to=y',
  // In reverse order.
  'from=2026-11-27T03:10:00Z&to=2026-11-27T03:00:00Z',
])('%o is the last hour', (address) =>
  expect(shownOf(new URLSearchParams(address))).toEqual({ kind: 'hours', hours: 1 }),
);
