import { Int32 } from 'bson';
import { expect, test } from 'vitest';
import { columnsFrom, columnsOf, isOfNumbers } from './columns';
import { ListTally } from './tally';

const ids = (tally: ListTally, documents: readonly object[]) =>
  [...tally.of(documents).seen.keys()].sort();

/** Longer than a list that is recounted every time. */
const many = (n: number) => Array.from({ length: n }, (_, at) => ({ id: `${at}`, n: at }));

test('a field of one of many documents that come later is found', () => {
  const tally = new ListTally();
  const first = many(1000);
  expect(ids(tally, first)).toEqual(['id', 'n']);
  const more = [...first, ...many(3000), { id: 'x', rare: 1 }];
  expect(ids(tally, more)).toEqual(['id', 'n', 'rare']);
  expect(tally.of(more).total).toBe(4001);
  expect(tally.of(more).seen.get('n')?.count).toBe(4000);
});

test('documents that stay are not looked at again', () => {
  const tally = new ListTally();
  let looked = 0;
  const watched = Object.defineProperty({ id: 'a' }, 'n', {
    enumerable: true,
    get: () => {
      looked += 1;
      return 1;
    },
  });
  const documents = [watched, ...many(1000)];
  tally.of(documents);
  tally.of([...documents, { id: 'b' }]);
  expect(looked).toBe(1);
});

test('what was read again has the fields that it has now', () => {
  const tally = new ListTally();
  const short = many(3);
  tally.of(short);
  expect(ids(tally, [{ id: 'a', m: 1 }, ...short.slice(1)])).toEqual(['id', 'm', 'n']);
  expect(ids(tally, [{ id: 'a', m: 1 }])).toEqual(['id', 'm']);
  const long = many(1000);
  tally.of(long);
  expect(
    ids(
      tally,
      long.map(({ id }) => ({ id, renamed: 1 })),
    ),
  ).toEqual(['id', 'renamed']);
});

test('a list of one read has the columns of its documents', () => {
  const documents = [
    { id: 'a', n: 1 },
    { id: 'b', more: { x: 1 } },
  ];
  expect(columnsFrom(new ListTally().of(documents), 'id')).toEqual(columnsOf(documents, 'id'));
});

test('numbers, also where some are null', () => {
  const documents = [
    { _id: 1, n: 1, m: null, s: 'a', b: null },
    { _id: 2, n: null, m: new Int32(1), s: 1 },
  ];
  const of = new Map(columnsOf(documents, '_id').map((column) => [column.id, column]));
  const found = [...of.values()].filter(isOfNumbers).map(({ id }) => id);
  expect(found.sort()).toEqual(['_id', 'm', 'n']);
});
