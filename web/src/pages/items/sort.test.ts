import { Int32 } from 'bson';
import { expect, test } from 'vitest';
import { EXPIRES } from '../../pure/columns/columns';
import { nextSort, readSort, sortRows, sortText } from './sort';
import type { Row, Source } from './source';

test.each(['a.b', '-a.b', '-\\expires'])('%s is read from an address and written there', (text) => {
  expect(sortText(readSort(text))).toBe(text);
});

test('nothing is no order', () => {
  expect([null, '', '-'].map(readSort)).toEqual([null, null, null]);
  expect(sortText(null)).toBeNull();
});

test('upwards, downwards, not at all, and another column begins anew', () => {
  const up = nextSort(null, 'a');
  const down = nextSort(up, 'a');
  expect([up, down, nextSort(down, 'a'), nextSort(down, 'b')]).toEqual([
    { column: 'a', direction: 1 },
    { column: 'a', direction: -1 },
    null,
    { column: 'b', direction: 1 },
  ]);
});

test('loaded rows are sorted by a field, and by the time left', () => {
  const row = (key: string, n: number, expiresAtMs: number | null): Row => ({
    ...{ key, name: key, ref: key, value: { n: new Int32(n) } },
    expiry: { expiresAtMs, by: null, reason: null },
  });
  const rows = [row('a', 2, null), row('b', 1, 50), row('c', 3, 20)];
  const source = { api: 'mongo' } as Source;
  const by = (column: string, direction: 1 | -1) =>
    sortRows(rows, { column, direction }, source)
      .map(({ key }) => key)
      .join('');
  expect([by('n', 1), by('n', -1), by(EXPIRES, 1), by(EXPIRES, -1)]).toEqual([
    ...['bac', 'cab', 'cba', 'abc'],
  ]);
});
