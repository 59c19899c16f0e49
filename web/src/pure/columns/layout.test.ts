import { expect, test } from 'vitest';
import { columnsOf, EXPIRES } from './columns';
import {
  changed,
  continued,
  drawn,
  initialLayout,
  layoutText,
  merged,
  moved,
  readLayout,
} from './layout';

const columns = columnsOf([{ id: '1', a: 1, b: { c: 2 }, d: 3 }], 'id');
const ids = (layout: readonly { id: string }[]) => layout.map(({ id }) => id);

test('without a choice the first columns and fields without parts are shown', () => {
  expect(ids(drawn(initialLayout(columns), columns))).toEqual(['id', EXPIRES, 'a', 'b.c', 'd']);
});

test('what the server sets is last and not shown, in containers alone', () => {
  const item = { id: '1', _ts: 5, _etag: 'e', a: 1 };
  const items = columnsOf([item], 'id');
  expect(ids(items)).toEqual(['id', EXPIRES, 'a', '_ts', '_etag']);
  expect(ids(drawn(initialLayout(items), items))).toEqual(['id', EXPIRES, 'a']);
  expect(ids(columnsOf([{ _id: 1, _etag: 'mine' }], '_id'))).toEqual(['_id', EXPIRES, '_etag']);
});

test('the time left is not shown where nothing can expire, and comes second when something can', () => {
  const without = initialLayout(columns, true);
  expect(ids(drawn(without, columns))).toEqual(['id', 'a', 'b.c', 'd']);
  expect(ids(without)).toContain(EXPIRES);
  const later = continued(without, initialLayout(columns));
  expect(ids(drawn(later, columns))).toEqual(['id', EXPIRES, 'a', 'b.c', 'd']);
  const again = continued(later, initialLayout(columns, true));
  expect(ids(drawn(again, columns))).toEqual(['id', 'a', 'b.c', 'd']);
});

test('a choice survives its text', () => {
  let layout = initialLayout(columns);
  layout = moved(layout, 'd', 'a');
  layout = changed(layout, 'd', { width: 300.4 });
  layout = changed(layout, 'a', { shown: false });
  layout = changed(layout, 'b.c', { pinned: true });
  expect(ids(drawn(layout, columns))).toEqual(['id', 'b.c', EXPIRES, 'd']);
  const read = readLayout(layoutText(layout)) ?? [];
  expect(drawn(read, columns)).toEqual(drawn(layout, columns));
  expect(read.find(({ id }) => id === 'd')).toMatchObject({ width: 300 });
});

test('a field that is gone is kept, and one that is new stands behind the choice', () => {
  const chosen = initialLayout(columns);
  const later = columnsOf([{ id: '1', d: 3, fresh: 1 }], 'id');
  const both = merged(chosen, later);
  expect(ids(drawn(both, later))).toEqual(['id', EXPIRES, 'd']);
  expect(both.at(-1)).toMatchObject({ id: 'fresh', shown: false });
  expect(ids(drawn(both, columns))).toEqual(['id', EXPIRES, 'a', 'b.c', 'd']);
});

test('without a choice what is shown stays in its place when other documents come', () => {
  const first = columnsOf([{ id: '1', user: 'a', total: 1 }], 'id');
  const before = initialLayout(first);
  const later = columnsOf(
    [
      { id: '2', bin: 1, n: 2, user: 'b' },
      { id: '1', user: 'a', total: 1 },
    ],
    'id',
  );
  const layout = continued(before, initialLayout(later));
  expect(ids(drawn(layout, later))).toEqual(['id', EXPIRES, 'user', 'total', 'bin', 'n']);
  const many = columnsOf([{ id: '1', b: 1, c: 1, d: 1, e: 1, f: 1, g: 1, h: 1, user: 'a' }], 'id');
  const full = continued(layout, initialLayout(many));
  expect(ids(drawn(full, many))).toEqual(['id', EXPIRES, 'user', 'b', 'c', 'd', 'e', 'f']);
  expect(ids(full)).toContain('h');
  const nothing = columnsOf([], 'id');
  expect(ids(drawn(continued(full, initialLayout(nothing)), nothing))).toEqual(['id', EXPIRES]);
});

test('a column is moved to the end, and before itself nowhere', () => {
  const layout = initialLayout(columns);
  expect(ids(moved(layout, 'id', null)).at(-1)).toBe('id');
  expect(moved(layout, 'id', 'id')).toBe(layout);
  expect(moved(layout, 'gone', null)).toBe(layout);
});

test.each([
  '',
  'null',
  '[]',
  '{"version":2,"columns":[{"id":"a","shown":true}]}',
  '{"version":1,"columns":[]}',
  '{"version":1,"columns":[{"id":"a"}]}',
  '{"version":1,"columns":7}',
])('%j is no layout', (text) => expect(readLayout(text)).toBeNull());

test('what is wrong within a text is left out', () => {
  const text = JSON.stringify({
    version: 1,
    columns: [{ id: 'a', shown: true, width: 1e9 }, null, { id: 7 }, { id: 'a', shown: false }],
    later: 'x',
  });
  expect(readLayout(text)).toEqual([{ id: 'a', shown: true, pinned: false, width: null }]);
});

test('widths have bounds', () => {
  const layout = initialLayout(columns);
  expect(changed(layout, 'a', { width: 1 }).find(({ id }) => id === 'a')?.width).toBe(40);
  expect(changed(layout, 'a', { width: 1e6 }).find(({ id }) => id === 'a')?.width).toBe(2000);
});
