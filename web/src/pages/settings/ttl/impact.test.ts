import { expect, test } from 'vitest';
import type { Preview } from '../../../api/admin';
import { expiresNow, mustAskAgain, NOUNS } from './impact';

const zero = { documents: 0, bytes: 0 };
const within = { hour: zero, day: zero, week: zero };
function dying(documents: number, bytes = 0, exact = true): Preview {
  return { dies_now: { documents, bytes }, dies_within: within, exact };
}
const live = (documents: number) => ({ documents, bytes: documents * 100 });

test.each<[Preview, number | null, number | null, string]>([
  [
    dying(12_431, 5_452_595),
    3600,
    20_000,
    '12,431 of 20,000 items (5.2 MB) are already older than this and will expire immediately.',
  ],
  [
    dying(12_431, 5_452_595, false),
    3600,
    20_000,
    'About 12,431 of 20,000 items (5.2 MB) are already older than this and will expire immediately.',
  ],
  [
    dying(1, 10),
    5,
    1,
    '1 of 1 item (10 bytes) is already older than this and will expire immediately.',
  ],
  [
    dying(3, 10),
    5,
    null,
    '3 items (10 bytes) are already older than this and will expire immediately.',
  ],
  [
    dying(2, 10),
    -1,
    9,
    '2 of 9 items (10 bytes) have a “ttl” that has elapsed and will expire immediately.',
  ],
  [
    dying(0),
    5,
    20_000,
    'None of the 20,000 items is older than this: nothing expires immediately.',
  ],
  [dying(0), 5, 1, 'The only item is not older than this: nothing expires immediately.'],
  [dying(0), 5, 0, 'There are no items: nothing expires immediately.'],
  [dying(0, 0, false), -1, 3, 'Nothing expires immediately. (This is an estimate.)'],
  [dying(0), null, 3, 'No item expires while TTL is off.'],
])('a preview in words %#', (preview, value, all, want) => {
  expect(expiresNow(preview, value, all === null ? null : live(all), NOUNS.nosql)).toBe(want);
});

test('the MongoDB door has documents, which date indexes may end', () => {
  expect(expiresNow(dying(0), null, live(4), NOUNS.mongo)).toBe('Nothing expires immediately.');
  expect(expiresNow(dying(2, 2048), 5, live(4), NOUNS.mongo)).toBe(
    '2 of 4 documents (2.0 KB) are already older than this and will expire immediately.',
  );
});

test.each([
  [10, 10, false, false],
  [10, 11, false, true],
  [10, 9, false, true],
  [1000, 1010, true, false],
  [1000, 1011, true, true],
  [3, 4, true, true],
  [1000, 900, true, false],
])('agreed to %i, now %i, the clock runs: %s → ask again: %s', (agreed, now, runs, want) => {
  expect(mustAskAgain(dying(agreed), dying(now), runs)).toBe(want);
});
