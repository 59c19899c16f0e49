import { expect, test } from 'vitest';
import type { IndexRecord } from '../../../api/mongo';
import { commandsFor, defaultOf, isDateIndex } from './ttlIndex';

function index(
  name: string,
  key: Record<string, number>,
  expireAfterSeconds: number | null,
): IndexRecord {
  return { name, key, expireAfterSeconds, all: {} };
}
const id = index('_id_', { _id: 1 }, null);
const date = index('at_1', { at: 1 }, 60);
const plain = (commands: unknown) => JSON.parse(JSON.stringify(commands)) as unknown;

test.each<[string, IndexRecord[], number | null, number | null, unknown]>([
  ['off stays off', [id, date], null, null, []],
  [
    'a new one',
    [id, date],
    null,
    60,
    [{ createIndexes: 'c', indexes: [{ key: { _ts: 1 }, name: '_ts_1', expireAfterSeconds: 60 }] }],
  ],
  ['another value', [id, index('_ts_1', { _ts: 1 }, 5)], 5, -1, [mod('_ts_1', -1)]],
  ['downwards, by another name', [index('x', { _ts: -1 }, -1)], -1, 7, [mod('x', 7)]],
  ['one without seconds', [index('_ts_1', { _ts: 1 }, null)], null, 7, [mod('_ts_1', 7)]],
  ['off', [index('x', { _ts: 1 }, 5)], 5, null, [{ dropIndexes: 'c', index: 'x' }]],
  ['one without seconds is off', [index('x', { _ts: 1 }, null)], null, null, []],
  [
    'both directions',
    [index('x', { _ts: 1 }, 5), index('y', { _ts: -1 }, 5)],
    5,
    7,
    [mod('x', 7), mod('y', 7)],
  ],
])('%s', (_, indexes, before, value, want) => {
  expect(defaultOf(indexes)).toBe(before);
  expect(plain(commandsFor('c', indexes, value))).toEqual(want);
});

function mod(name: string, expireAfterSeconds: number) {
  return { collMod: 'c', index: { name, expireAfterSeconds } };
}

test('date indexes are all others with seconds', () => {
  const found = [id, date, index('_ts_1', { _ts: 1 }, 5)].filter(isDateIndex);
  expect(found).toEqual([date]);
});
