import { Int32, ObjectId } from 'bson';
import { expect, test } from 'vitest';
import { commandOf, firstPage, type MongoForm, writes } from './command';
import { InputError } from './problem';

const empty: MongoForm = {
  mode: 'filter',
  filter: '',
  projection: '',
  sort: '',
  limit: '',
  skip: '',
  pipeline: '',
};

test.each<[Partial<MongoForm>, unknown]>([
  [{}, { find: 'c', filter: {} }],
  [{ filter: '{n: 1}' }, { find: 'c', filter: { n: new Int32(1) } }],
  [
    { filter: '{_id: ObjectId("0123456789abcdef01234567")}', limit: ' 5 ' },
    { find: 'c', filter: { _id: new ObjectId('0123456789abcdef01234567') }, limit: 5 },
  ],
  [
    { projection: '{a: 1}', sort: '{b: -1}' },
    { find: 'c', filter: {}, projection: { a: new Int32(1) }, sort: { b: new Int32(-1) } },
  ],
  [
    { limit: '5', skip: ' 10' },
    { find: 'c', filter: {}, limit: 5, skip: 10 },
  ],
  [
    { mode: 'pipeline', filter: '{' },
    { aggregate: 'c', pipeline: [], cursor: {} },
  ],
  [
    { mode: 'pipeline', pipeline: '[{$limit: 1}]' },
    { aggregate: 'c', pipeline: [{ $limit: new Int32(1) }], cursor: {} },
  ],
])('%j becomes %j', (form, want) => expect(commandOf('c', { ...empty, ...form })).toEqual(want));

test.each<[Partial<MongoForm>, string]>([
  [{ filter: '{n: ' }, 'Filter'],
  [{ filter: '[1]' }, 'Filter'],
  [{ filter: 'ISODate("2026-01-01")' }, 'Filter'],
  [{ sort: '1' }, 'Sort'],
  [{ limit: '-1' }, 'Limit'],
  [{ limit: '1.5' }, 'Limit'],
  [{ limit: '2147483648' }, 'Limit'],
  [{ mode: 'pipeline', pipeline: '{$match: {}}' }, 'Pipeline'],
  [{ filter: `{a: "${'x'.repeat(600_000)}"}` }, 'Filter'],
])('of %j the field %s is refused', (form, field) => {
  let found: unknown = null;
  try {
    commandOf('c', { ...empty, ...form });
  } catch (error) {
    found = error;
  }
  expect(found).toBeInstanceOf(InputError);
  expect(found).toMatchObject({ field });
});

test('pages have a size', () => {
  expect(firstPage({ find: 'c' })).toEqual({ find: 'c', batchSize: 100 });
  expect(firstPage({ aggregate: 'c', cursor: {} })).toEqual({
    aggregate: 'c',
    cursor: { batchSize: 100 },
  });
});

test.each([
  [{ find: 'c' }, false],
  [{ aggregate: 'c', pipeline: [{ $match: {} }] }, false],
  [{ aggregate: 'c', pipeline: [{ $match: {} }, { $out: 'd' }] }, true],
  [{ aggregate: 'c', pipeline: [{ $merge: { into: 'd' } }] }, true],
])('%j writes: %s', (command, want) => expect(writes(command)).toBe(want));
