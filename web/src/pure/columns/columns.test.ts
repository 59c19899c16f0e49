import { Int32, ObjectId } from 'bson';
import { expect, test } from 'vitest';
import { columnsOf, EXPIRES, titleOf } from './columns';

const ids = (documents: unknown[], id: 'id' | '_id' = 'id', keys: string[] = []) =>
  columnsOf(documents, id, keys).map((column) => column.id);

test('the id, the key and the time left stand first, then what most documents have', () => {
  const documents = [
    { rare: 1, id: 'a', tenant: { name: 't' }, late: 1 },
    { id: 'b', tenant: { name: 't' }, late: 2 },
    { id: 'c', early: 1, tenant: { name: 't' } },
  ];
  expect(ids(documents, 'id', ['/tenant/name'])).toEqual([
    ...['id', 'tenant.name', EXPIRES, 'tenant', 'late', 'rare', 'early'],
  ]);
});

test('a key that is the id is one column, and one that no document has is there', () => {
  expect(ids([], 'id', ['/id', '/zone'])).toEqual(['id', 'zone', EXPIRES]);
});

test('shares, types and parts', () => {
  const documents = [
    { _id: new ObjectId(), a: { b: new Int32(1) } },
    { _id: 1, a: null },
  ];
  const columns = columnsOf(documents, '_id');
  const of = (id: string) => columns.find((column) => column.id === id);
  expect(of('a')).toMatchObject({ share: 1, hasParts: true });
  expect([...(of('a')?.kinds ?? [])]).toEqual([
    ['object', 1],
    ['null', 1],
  ]);
  expect(of('a.b')).toMatchObject({ share: 0.5, hasParts: false });
  expect([...(of('_id')?.kinds ?? [])]).toEqual([
    ['objectId', 1],
    ['number', 1],
  ]);
});

test('three levels are walked, and a name with a dot is not a level', () => {
  expect(ids([{ a: { b: { c: { d: 1 } } }, 'x.y': 1 }])).toEqual([
    ...['id', EXPIRES, 'a', 'a.b', 'a.b.c', 'x\\.y'],
  ]);
  expect([EXPIRES, 'x\\.y', 'a.b'].map(titleOf)).toEqual(['Expires', 'x.y', 'a.b']);
});

test('names made of data have an end', () => {
  const many = Array.from({ length: 3000 }, (_, at) => ({ id: 'x', [`k${at}`]: at }));
  expect(ids(many).length).toBe(1001);
});

test('an empty name of a field has a heading', () => {
  expect(titleOf('')).toBe('""');
  expect(titleOf('a.')).toBe('a.""');
  expect(titleOf('a.b')).toBe('a.b');
});
