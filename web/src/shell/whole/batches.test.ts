import { expect, test } from 'vitest';
import { batches } from './batches';

const all = (values: number[]) => [...batches(values, { count: 3, size: 10 }, (value) => value)];

test('a batch holds so many, and so much', () => {
  expect(all([])).toEqual([]);
  expect(all([1, 1, 1, 1])).toEqual([[1, 1, 1], [1]]);
  expect(all([6, 4, 1])).toEqual([[6, 4], [1]]);
});

test('what is too large goes alone', () => {
  expect(all([1, 99, 1])).toEqual([[1], [99], [1]]);
});
