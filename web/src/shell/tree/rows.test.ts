import { describe, expect, test } from 'vitest';
import type { Branch } from '../../state/tree';
import { keyOf, labelOf, parentOf, rowKey, rowOfPlace, rowsOf, typedTo } from './rows';

const branches: Branch[] = [
  { door: 'nosql', name: 'app', collections: ['carts', 'sessions'], failure: null },
  { door: 'nosql', name: 'empty', collections: [], failure: null },
  { door: 'mongo', name: 'app', collections: null, failure: null },
  { door: 'mongo', name: 'logs', collections: null, failure: 'It is gone.' },
];
const all = new Set(branches.map((branch) => keyOf(branch.door, branch.name)));
const labels = (open: Set<string>, filter = '') => rowsOf(branches, open, filter).map(labelOf);

describe('the lines of the tree', () => {
  test.each<[string, Set<string>, string, string[]]>([
    ['closed', new Set(), '', ['app', 'empty', 'app', 'logs']],
    [
      'open',
      all,
      '',
      [
        'app',
        'carts',
        'sessions',
        'empty',
        'No containers',
        'app',
        'Loading…',
        'logs',
        'It is gone.',
      ],
    ],
    [
      'one API open',
      new Set(['nosql/app']),
      '',
      ['app', 'carts', 'sessions', 'empty', 'app', 'logs'],
    ],
    ['a filter on a container opens its database', new Set(), 'SESS', ['app', 'sessions']],
    [
      'a filter on a database shows all of it',
      new Set(['nosql/app']),
      ' app',
      ['app', 'carts', 'sessions', 'app'],
    ],
    ['a filter without matches', all, 'zzz', []],
  ])('%s', (_, open, filter, want) => expect(labels(open, filter)).toEqual(want));

  test('places in the set are counted per level', () => {
    expect(rowsOf(branches, all, '')[2]).toMatchObject({ name: 'sessions', at: 2, of: 2 });
    expect(rowsOf(branches, all, '')[5]).toMatchObject({ database: 'app', at: 3, of: 4 });
  });

  test('no two lines share a key', () => {
    const tricky: Branch[] = [
      { door: 'nosql', name: 'a/b', collections: ['c'], failure: null },
      { door: 'nosql', name: 'a', collections: ['b/c', 'b', ''], failure: null },
      { door: 'nosql', name: 'x', collections: null, failure: null },
    ];
    const keys = rowsOf(tricky, new Set(['nosql/a/b', 'nosql/a', 'nosql/x']), '').map(rowKey);
    expect(new Set(keys).size).toBe(keys.length);
  });
});

test('a place is found among the lines', () => {
  const rows = rowsOf(branches, all, '');
  expect(rowOfPlace(rows, { page: 'database', door: 'mongo', database: 'app' })).toBe(5);
  const place = {
    page: 'collection',
    door: 'nosql',
    database: 'app',
    collection: 'sessions',
    view: 'items',
  } as const;
  expect(rowOfPlace(rows, place)).toBe(2);
  expect(rowOfPlace(rows, { ...place, collection: 'none' })).toBe(-1);
  expect(rowOfPlace(rows, { page: 'home' })).toBe(-1);
});

test.each([
  [0, 'e', 3],
  [3, 'a', 5],
  [5, 'a', 0],
  [5, 'ap', 5],
  [0, 's', 2],
  [1, 'z', null],
])('from line %i, typing "%s" leads to line %i', (at, typed, want) => {
  expect(typedTo(rowsOf(branches, all, ''), at, typed)).toBe(want);
});

test('a line stands under its database', () => {
  const rows = rowsOf(branches, all, '');
  expect([2, 3, 4].map((at) => parentOf(rows, at))).toEqual([0, 3, 3]);
});
