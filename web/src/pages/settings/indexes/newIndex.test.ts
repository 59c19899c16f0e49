import { expect, test } from 'vitest';
import { movedUp, NEW_INDEX, nameOf, type Problems, readIndex } from './newIndex';

const plain = (value: unknown) => JSON.parse(JSON.stringify(value)) as unknown;
const fields = [
  { path: 'address.city', order: 1 },
  { path: 'n', order: -1 },
] as const;

test('a whole index', () => {
  const read = readIndex({
    ...NEW_INDEX,
    fields,
    unique: true,
    hidden: true,
    filter: '{ n: { $gt: 5 } }',
  });
  expect(plain(read)).toEqual({
    index: {
      key: { 'address.city': 1, n: -1 },
      name: 'address.city_1_n_-1',
      unique: true,
      hidden: true,
      partialFilterExpression: { n: { $gt: 5 } },
    },
  });
});

test('one that makes documents expire, of its own name', () => {
  const read = readIndex({
    ...NEW_INDEX,
    fields: [{ path: 'at', order: 1 }],
    name: ' mine ',
    expires: true,
    seconds: { text: '2', unit: 'hour' },
  });
  expect(plain(read)).toEqual({
    index: { key: { at: 1 }, name: 'mine', expireAfterSeconds: 7200 },
  });
});

test.each<[object, keyof Problems, RegExp]>([
  [{}, 'fields', /Enter the name/],
  [{ fields: [fields[0], fields[0]] }, 'fields', /occurs twice/],
  [{ fields: [{ path: '_id', order: 1 }] }, 'fields', /always/],
  [{ fields: [{ path: '_ts', order: 1 }] }, 'fields', /Time to live/],
  [{ fields, filter: '{' }, 'filter', /^At character/],
  [{ fields, filter: '5' }, 'filter', /must be an object/],
  [{ fields, expires: true, seconds: { text: '5', unit: 'second' } }, 'expires', /has one field/],
  [
    { fields: [fields[1]], expires: true, seconds: { text: '-1', unit: 'second' } },
    'expires',
    /-1|negative/,
  ],
])('%j is refused', (change, part, says) => {
  const read = readIndex({ ...NEW_INDEX, ...change });
  expect('problems' in read ? read.problems[part] : '').toMatch(says);
});

test('names and places', () => {
  expect(nameOf(fields)).toBe('address.city_1_n_-1');
  expect(movedUp(['a', 'b', 'c'], 2)).toEqual(['a', 'c', 'b']);
  expect(movedUp(['a'], 0)).toEqual(['a']);
});
