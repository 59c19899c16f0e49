import { expect, test } from 'vitest';
import { led } from './keys';

const bounds = { lastRow: 9, lastColumn: 3, page: 4 };
const go = (at: number, column: number | null, ...keys: string[]) =>
  keys.reduce((spot, key) => led(key, spot, bounds) ?? spot, { at, column });

test('up and down, by pages, and to both ends', () => {
  expect(go(0, null, 'ArrowDown', 'PageDown', 'ArrowUp')).toEqual({ at: 4, column: null });
  expect(go(5, 2, 'End')).toEqual({ at: 9, column: 2 });
  expect(go(5, 2, 'Home')).toEqual({ at: 0, column: 2 });
  expect(led('Enter', { at: 0, column: null }, bounds)).toBeNull();
});

test('to cells and back to the row', () => {
  expect(go(1, null, 'ArrowRight', 'ArrowRight')).toEqual({ at: 1, column: 1 });
  expect(go(1, 3, 'ArrowRight')).toEqual({ at: 1, column: 3 });
  expect(go(1, 1, 'ArrowLeft', 'ArrowLeft')).toEqual({ at: 1, column: null });
});

test('the head is above the first row, and has columns alone', () => {
  expect(go(0, null, 'ArrowUp')).toEqual({ at: -1, column: 0 });
  expect(go(0, 2, 'ArrowUp', 'ArrowLeft')).toEqual({ at: -1, column: 1 });
  expect(go(-1, 0, 'ArrowLeft')).toEqual({ at: -1, column: 0 });
  expect(go(-1, 2, 'ArrowDown')).toEqual({ at: 0, column: null });
});

test('an empty list has a head', () => {
  expect(led('ArrowDown', { at: -1, column: 0 }, { ...bounds, lastRow: -1 })).toEqual({
    ...{ at: -1, column: 0 },
  });
});
