import { expect, test } from 'vitest';
import { addressOf, FIRST, LONGEST, textsOf } from './address';

const find = { ...FIRST.mongo, filter: '{ n: 1 }', sort: '{ n: -1 }', limit: '5', skip: '2' };
const pipeline = { ...FIRST.mongo, mode: 'pipeline', pipeline: ' [{ $match: { a: "&=+ ü" } }]' };

test.each([
  ['nosql', { text: 'SELECT * FROM c WHERE c.a = "&?#"' }],
  ['mongo', find],
  ['mongo', pipeline],
] as const)('%s: an address gives back %j', (door, texts) => {
  const search = new URLSearchParams(addressOf(door, texts) ?? {}).toString();
  expect(textsOf(door, new URLSearchParams(search))).toEqual(texts);
});

test('what no address holds', () => {
  expect(addressOf('nosql', { text: 'x'.repeat(LONGEST) })).toEqual({ q: 'x'.repeat(LONGEST) });
  expect(addressOf('nosql', { text: 'x'.repeat(LONGEST + 1) })).toBeNull();
  expect(addressOf('mongo', { ...find, projection: 'x'.repeat(LONGEST) })).toBeNull();
  expect(addressOf('mongo', { ...pipeline, pipeline: '// first\n[]' })).toBeNull();
});

test('what every page begins with needs none', () => {
  expect(addressOf('nosql', FIRST.nosql)).toEqual({});
  expect(addressOf('mongo', FIRST.mongo)).toEqual({});
  expect(addressOf('nosql', { text: ' ' })).toEqual({});
  expect(textsOf('mongo', new URLSearchParams('sort={}'))).toBeNull();
});
