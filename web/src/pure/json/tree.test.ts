import { expect, test } from 'vitest';
import { processorMs } from '../testing/processor';
import { compactJson, entryOf, lineOf, printJson, readJson, without } from './tree';

function root(text: string) {
  const read = readJson(text);
  if ('error' in read) throw new Error(`${read.error} at ${read.at}`);
  return read.root;
}

test.each([
  ['20.0', '20.0'],
  ['[9007199254740993,1E5,-0,-0.0]', '[\n  9007199254740993,\n  1E5,\n  -0,\n  -0.0\n]'],
  [
    '{"a":{},"b":[],"\\u0061":"\\u00e9\\/"}',
    '{\n  "a": {},\n  "b": [],\n  "\\u0061": "\\u00e9\\/"\n}',
  ],
  [' { "a" : [ { } , null ] } ', '{\n  "a": [\n    {},\n    null\n  ]\n}'],
])('%s keeps its characters', (text, want) => {
  expect(printJson(root(text))).toBe(want);
  expect(printJson(root(want))).toBe(want);
});

test.each<[string, number, RegExp]>([
  ['', 0, /missing/],
  ['{', 1, /key/],
  ['{"a"}', 4, /":"/],
  ['{"a":1,}', 6, /comma/],
  ['[1,]', 2, /comma/],
  ['[1 2]', 3, /","/],
  ["{'a':1}", 1, /key in double quotes/],
  ["['a']", 1, /not with '/],
  ['{a:1}', 1, /key in double quotes/],
  ['01', 0, /value/],
  ['1.', 0, /value/],
  ['+1', 0, /value/],
  ['NaN', 0, /value/],
  ['truex', 0, /value/],
  ['"a\nb"', 0, /not terminated/],
  ['"\\x"', 0, /not terminated/],
  ['{} {}', 3, /unexpected/],
  ['{"a":1}// c', 7, /unexpected/],
])('%j is refused at %i', (text, at, want) => {
  const read = readJson(text);
  expect(read).toMatchObject({ error: expect.stringMatching(want), at });
  expect(() => JSON.parse(text) as unknown).toThrow();
});

test('depth has the limit of the server', () => {
  expect(readJson('['.repeat(128) + ']'.repeat(128))).toHaveProperty('root');
  expect(readJson('['.repeat(100_000))).toMatchObject({ at: 128 });
});

test('fields at the root', () => {
  const node = root('{"ttl":1,"_ts":5,"x":{"_ts":6},"ttl":20.0}');
  expect(entryOf(node, 'ttl')?.value).toMatchObject({ text: '20.0' });
  expect(entryOf(node, 'TTL')).toBeNull();
  expect(printJson(without(node, new Set(['_ts', 'ttl'])))).toBe(
    '{\n  "x": {\n    "_ts": 6\n  }\n}',
  );
});

test('lines count from one', () => {
  expect([0, 1, 2, 3].map((at) => lineOf('a\nb\n', at))).toEqual([1, 1, 2, 2]);
});

test('a long text reads whole, without a look at all of it for each part', () => {
  const long = JSON.stringify(
    Array.from({ length: 20_000 }, (_, at) => ({ id: `${at}`, name: 'x'.repeat(40) })),
  );
  expect(JSON.parse(printJson(root(long)))).toEqual(JSON.parse(long));
  expect(processorMs(() => printJson(root(long)))).toBeLessThan(2000);
  expect(root(JSON.stringify('y'.repeat(3_000_000)))).toMatchObject({ kind: 'plain' });
});

test('white space between tokens goes, that of texts stays', () => {
  expect(compactJson('{ "a b" : [ 1,\n "\\" x" ] }')).toBe('{"a b":[1,"\\" x"]}');
});
