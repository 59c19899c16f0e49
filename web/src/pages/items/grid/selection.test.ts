import { expect, test } from 'vitest';
import { all, listed, NOTHING, stepped, toggled, upTo } from './selection';

const rows = ['a', 'b', 'c', 'd'].map((key) => ({ key }));
const keys = ({ keys: found }: { keys: ReadonlySet<string> }) => [...found].sort().join('');

test('one, a range in either direction, and all', () => {
  const one = toggled(NOTHING, 'c');
  expect(keys(one)).toBe('c');
  expect(keys(upTo(one, rows, 'a'))).toBe('abc');
  expect(keys(upTo(one, rows, 'd'))).toBe('cd');
  expect(keys(toggled(one, 'c'))).toBe('');
  expect(keys(all(rows))).toBe('abcd');
});

test('a range without a beginning is one row, and one that is gone changes nothing', () => {
  expect(keys(upTo(NOTHING, rows, 'b'))).toBe('b');
  const one = toggled(NOTHING, 'a');
  expect(upTo(one, rows, 'gone')).toBe(one);
});

test('steps with Shift reach out and come back', () => {
  const out = stepped(stepped(NOTHING, 'a', 'b'), 'b', 'c');
  expect(keys(out)).toBe('abc');
  expect(keys(stepped(out, 'c', 'b'))).toBe('ab');
  expect(stepped(out, 'c', 'c')).toBe(out);
});

test('what left the list is not selected', () => {
  const some = upTo(toggled(NOTHING, 'a'), rows, 'c');
  expect(keys(listed(some, rows.slice(1)))).toBe('bc');
  expect(listed(some, rows)).toBe(some);
});
