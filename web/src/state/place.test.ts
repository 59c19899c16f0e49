import { expect, test } from 'vitest';
import { type Place, parsePlace, pathOf } from './place';

const target = { door: 'nosql', database: 'a b/ü', collection: '<i>%</i>' } as const;

test.each<[string, Place]>([
  ['/', { page: 'home' }],
  ['/features', { page: 'features' }],
  ['/monitor', { page: 'metrics' }],
  ['/mongo/app', { page: 'database', door: 'mongo', database: 'app' }],
  [
    '/nosql/a%20b%2F%C3%BC/%3Ci%3E%25%3C%2Fi%3E/settings',
    { page: 'collection', view: 'settings', ...target },
  ],
])('%s names a place, and the place is written so', (path, place) => {
  expect(parsePlace(path)).toEqual(place);
  expect(pathOf(place)).toBe(path);
});

test('a collection without a view shows its items', () => {
  expect(parsePlace('/mongo/app/logs')).toMatchObject({ page: 'collection', view: 'items' });
});

test.each([
  '/other',
  '/nosql',
  '/nosql/a/b/c',
  '/nosql/a/b/items/x',
  '/nosql/%E0%A4%A',
  '/features/x',
])('%s is no place', (path) => expect(parsePlace(path)).toEqual({ page: 'unknown', path }));
