import { expect, test } from 'vitest';
import { EXPIRES } from '../../../pure/columns/columns';
import type { Placed } from '../../../pure/columns/layout';
import { arranged, tracksOf } from './tracks';

const column = (id: string, more: Partial<Placed> = {}): Placed => ({
  ...{ id, shown: true, pinned: false, width: null },
  ...more,
});

test('pinned columns stand one beside the other, and have a width of their own', () => {
  const placed = [
    column('id', { pinned: true, width: 100 }),
    column('a', { pinned: true }),
    column('b', { width: 90 }),
    column('c'),
  ];
  expect(tracksOf(placed, 'id', false, new Map([['a', 96]]))).toEqual({
    template: '100px 96px 90px minmax(136px, 136fr)',
    width: 422,
    pins: [0, 100, null, null],
    widths: [100, 96, 90, 136],
  });
});

test('on a telephone the time left is the second column', () => {
  const placed = [column('id', { pinned: true }), column('a'), column(EXPIRES)];
  expect(arranged(placed, true).map(({ id, pinned }) => [id, pinned])).toEqual([
    ['id', false],
    [EXPIRES, false],
    ['a', false],
  ]);
  expect(arranged(placed, false)).toBe(placed);
  expect(arranged([column(EXPIRES)], true)).toHaveLength(1);
});
