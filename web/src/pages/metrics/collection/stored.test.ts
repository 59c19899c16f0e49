import { expect, test } from 'vitest';
import { storedOfMongo, storedOfNosql } from './stored';

const stats = {
  count: 200,
  size: 5800,
  totalSize: 0,
  totalIndexSize: 0,
  nindexes: 1,
  avgObjSize: 29,
};

test('documents that are in the journal alone do not take 0 bytes', () => {
  const [disk, indexes] = storedOfMongo(stats);
  expect(disk).toMatchObject({
    value: 'In the journal only',
    hint: 'Size: 200 documents, 5.7 KB. Not yet flushed to tables.',
  });
  expect(indexes).toMatchObject({ value: 'In the journal only', hint: '1 index' });
});

test('what tables have is told in bytes', () => {
  const [disk, indexes, average] = storedOfMongo({ ...stats, totalSize: 15_400, nindexes: 2 });
  expect(disk).toMatchObject({ value: '15 KB' });
  expect(disk?.hint).toMatch(/excludes data that is only in the journal/);
  expect(indexes).toMatchObject({ value: '0 bytes', hint: '2 indexes' });
  expect(average?.value).toBe('29 bytes');
});

test('nothing takes nothing', () => {
  expect(storedOfMongo({ ...stats, count: 0, size: 0 })[0]?.value).toBe('0 bytes');
});

test.each([
  [
    'documentSize=0;documentsSize=3;documentsCount=20;collectionSize=6;',
    '6.0 KB',
    /^Includes indexes/,
  ],
  ['documentsSize=3;documentsCount=20;collectionSize=3;', '20 items, 3.0 KB', /in the journal/],
  ['documentsSize=0;documentsCount=0;collectionSize=0;', '0 bytes', /^Includes indexes/],
])('a container with %s', (usage, value, hint) => {
  expect(storedOfNosql(usage)).toMatchObject([{ name: 'On disk', value }]);
  expect(storedOfNosql(usage)[0]?.hint).toMatch(hint);
});

test('a server that does not tell', () => expect(storedOfNosql('')).toEqual([]));
