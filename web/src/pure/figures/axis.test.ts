import { expect, test } from 'vitest';
import { scale, short } from './axis';

test.each([
  [0, 1, 1],
  [1, 1, 1],
  [3, 3, 1],
  [7, 8, 2],
  [10, 10, 5],
  [99, 100, 50],
  [101, 150, 50],
  [12_431, 15_000, 5000],
])('%d fits below %d in steps of %d', (most, top, step) =>
  expect(scale(most)).toEqual({ top, step }),
);

test.each([
  [950, '950'],
  [12_000, '12K'],
  [3_400_000, '3.4M'],
])('%d is short %s', (value, want) => expect(short(value)).toBe(want));
