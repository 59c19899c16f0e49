import { expect, test } from 'vitest';
import { remembered } from './pastFilters';

test('the newest stands first and once, and a number of them is kept', () => {
  expect(remembered(['b', 'a'], 'c')).toEqual(['c', 'b', 'a']);
  expect(remembered(['b', 'a'], 'a')).toEqual(['a', 'b']);
  expect(remembered(['a'], '')).toEqual(['a']);
  expect(remembered(['a'], 'x'.repeat(2001))).toEqual(['a']);
  const many = Array.from({ length: 20 }, (_, n) => String(n));
  expect(remembered(many, 'new')).toEqual(['new', ...many.slice(0, 19)]);
});
