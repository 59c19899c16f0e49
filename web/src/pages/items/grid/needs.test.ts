import { expect, test } from 'vitest';
import { EXPIRES } from '../../../pure/columns/columns';
import type { Row } from '../source';
import { needsOf } from './needs';

const source = { idField: '_id' as const, shown: (value: unknown) => String(value ?? '') };
const row = (name: string, value: Record<string, unknown>, expiresAtMs: number | null = null) =>
  ({ key: name, name, value, ref: name, expiry: { expiresAtMs } }) as unknown as Row;

const needOf = (column: string, rows: Row[]) => needsOf(rows, [column], source).get(column);

test('a column is as wide as what it holds, within bounds and in steps', () => {
  const rows = [row('1', { n: 7, mail: 'ada@example.com', text: 'x'.repeat(500) }), row('2', {})];
  expect(needOf('n', rows)).toBe(88);
  expect(needOf('mail', rows)).toBe(144);
  expect(needOf('text', rows)).toBe(264);
  // A heading wider than its values.
  expect(needOf('a_name_of_some_length', rows)).toBe(208);
  expect(needOf('_id', rows)).toBe(112);
  expect(needOf('_id', [row('x'.repeat(60), {})])).toBe(216);
});

test('the text of what is surely too long is not made', () => {
  const asked: unknown[] = [];
  const counted = {
    ...source,
    shown: (value: unknown) => {
      asked.push(value);
      return JSON.stringify(value) ?? '';
    },
  };
  const many = Array.from({ length: 40 }, (_, n) => n);
  for (const [long, need] of [
    ['x'.repeat(40), 264],
    [many, 264],
    [{ a: [{ b: 'x'.repeat(40) }] }, 264],
    [Object.fromEntries(many.map((n) => [String(n), n])), 264],
  ] as const)
    expect(needsOf([row('1', { v: long })], ['v'], counted).get('v')).toBe(need);
  expect(asked).toEqual([]);
  expect(needsOf([row('1', { v: [1, 2] })], ['v'], counted).get('v')).toBe(88);
  expect(asked).toEqual([[1, 2]]);
});

test('rows far behind move nothing', () => {
  const first = Array.from({ length: 100 }, (_, n) => row(String(n), { n }));
  const before = needsOf(first, ['_id', 'n', EXPIRES], source);
  const more = [...first, row('x'.repeat(90), { n: 'long'.repeat(90) }, 5)];
  expect(needsOf(more, ['_id', 'n', EXPIRES], source)).toEqual(before);
});

test('where nothing expires its column is narrow', () => {
  expect(needOf(EXPIRES, [row('1', {})])).toBe(184);
  expect(needOf(EXPIRES, [row('1', {}), row('2', {}, 5)])).toBe(288);
  expect(needOf(EXPIRES, [])).toBe(288);
});
