import { expect, test } from 'vitest';
import type { Target } from '../../state/place';
import { draftOf, keysWithDrafts } from './drafts';

const target: Target = { door: 'nosql', database: 'app', collection: 'log' };

test('a row has a draft when one is kept under its key, in its collection', () => {
  const names = new Set([
    draftOf(target, 'one'),
    draftOf(target, 'a "quoted", [odd] key'),
    draftOf(target, ''),
    // A new item, which has no row.
    draftOf(target, null),
    draftOf({ ...target, collection: 'logs' }, 'two'),
    draftOf({ ...target, door: 'mongo' }, 'three'),
    'query:nosql/app/log',
  ]);
  expect([...keysWithDrafts(names, target)].sort()).toEqual(['', 'a "quoted", [odd] key', 'one']);
});
