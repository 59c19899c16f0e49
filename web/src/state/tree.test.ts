import { expect, test } from 'vitest';
import type { Place } from './place';
import { byBranch, byName, isAbsent, isListed, type Tree } from './tree';

const known: Tree = {
  branches: [
    { door: 'nosql', name: 'app', collections: ['log'], failure: null },
    { door: 'mongo', name: 'app', collections: null, failure: null },
  ],
  loading: false,
  read: true,
  failures: [],
};

const place = (door: 'nosql' | 'mongo', database: string, collection: string): Place => ({
  page: 'collection',
  view: 'items',
  door,
  database,
  collection,
});

test.each<[string, Tree, Place, boolean]>([
  ['a collection that is there', known, place('nosql', 'app', 'log'), false],
  ['one that is not', known, place('nosql', 'app', 'other'), true],
  ['one of a database that is not', known, place('mongo', 'gone', 'log'), true],
  ['one whose database was not asked', known, place('mongo', 'app', 'log'), false],
  ['a database', known, { page: 'database', door: 'nosql', database: 'app' }, false],
  ['no database', known, { page: 'database', door: 'nosql', database: 'gone' }, true],
  ['no database of any', { ...known, branches: [] }, place('nosql', 'app', 'log'), true],
  ['a tree under way', { ...known, loading: true }, place('nosql', 'app', 'other'), false],
  ['a tree not read', { ...known, read: false }, place('nosql', 'app', 'other'), false],
  ['a tree that failed', { ...known, failures: ['x'] }, place('nosql', 'app', 'other'), false],
  ['another page', known, { page: 'home' }, false],
])('%s', (_, tree, shown, want) => expect(isAbsent(tree, shown)).toBe(want));

test('only what is known to be there is listed', () => {
  const target = { door: 'nosql', database: 'app', collection: 'log' } as const;
  expect(isListed(known, target)).toBe(true);
  expect(isListed(known, { ...target, collection: 'other' })).toBe(false);
  // Not loaded yet.
  expect(isListed(known, { ...target, door: 'mongo' })).toBe(false);
  expect(isListed(known, { ...target, database: 'gone' })).toBe(false);
});

test('names are ordered without regard to case, and numbers by their value', () => {
  const names = ['logs10', 'crm', 'Größe', 'Zoo', 'logs9', 'app', 'App'];
  expect([...names].sort(byName)).toEqual(['app', 'App', 'crm', 'Größe', 'logs9', 'logs10', 'Zoo']);
});

test('databases of both APIs are one list', () => {
  const mongo = ['app', 'crm'].map((name) => ({ door: 'mongo' as const, name }));
  const nosql = ['Bank', 'app'].map((name) => ({ door: 'nosql' as const, name }));
  const ordered = [...mongo, ...nosql].sort(byBranch).map(({ door, name }) => `${door}/${name}`);
  expect(ordered).toEqual(['nosql/app', 'mongo/app', 'nosql/Bank', 'mongo/crm']);
});
