import {
  Binary,
  BSONRegExp,
  Code,
  Decimal128,
  Double,
  Int32,
  Long,
  MaxKey,
  MinKey,
  ObjectId,
  Timestamp,
} from 'bson';
import { expect, test } from 'vitest';
import { numbers } from '../testing/random';
import { type Api, compareTexts, compareValues, sortedBy } from './compare';

const MONGO: unknown[] = [
  new MinKey(),
  null,
  new Double(Number.NaN),
  new Double(-Infinity),
  new Int32(-1),
  Decimal128.fromString('1.10'),
  Decimal128.fromString('1.1000000000000000000000000001'),
  new Double(2.5),
  Long.fromString('9007199254740992'),
  Long.fromString('9007199254740993'),
  new Double(Infinity),
  '',
  'a',
  'b',
  '\uffee',
  '😀',
  {},
  { a: 1 },
  { b: 1 },
  { a: 'x' },
  [],
  [1],
  [1, 2],
  Binary.createFromHexString('ff', 0),
  Binary.createFromHexString('0001', 0),
  ObjectId.createFromHexString('0'.repeat(24)),
  ObjectId.createFromHexString('f'.repeat(24)),
  false,
  true,
  new Date(-1),
  new Date(5),
  new Timestamp({ t: 1, i: 1 }),
  new BSONRegExp('a', ''),
  new BSONRegExp('a', 'i'),
  new Code('x'),
  new MaxKey(),
];
const NOSQL: unknown[] = [undefined, null, false, true, -1, 0.5, 2, '', 'Z', 'a', [], [1], {}];

test.each<[Api, unknown[]]>([
  ['mongo', MONGO],
  ['nosql', NOSQL],
])('values of all types have one order in %s', (api, ordered) => {
  const next = numbers(7);
  for (let round = 0; round < 200; round += 1) {
    const mixed = ordered.map((value) => ({ value, at: next(1e9) })).sort((a, b) => a.at - b.at);
    const sorted = mixed.map(({ value }) => value).sort((a, b) => compareValues(a, b, api));
    // `sort` always puts undefined last.
    const wanted = ordered.filter((value) => value !== undefined);
    expect(sorted.filter((value) => value !== undefined)).toEqual(wanted);
  }
  ordered.forEach((a, i) => {
    ordered.forEach((b, j) => {
      expect(Math.sign(compareValues(a, b, api))).toBe(Math.sign(i - j));
    });
  });
});

test('numbers of different types are compared by their value', () => {
  const same = [new Int32(5), Long.fromNumber(5), new Double(5), Decimal128.fromString('5.00'), 5];
  for (const a of same) for (const b of same) expect(compareValues(a, b, 'mongo')).toBe(0);
  const long = Long.fromString('9007199254740993');
  expect(compareValues(long, new Double(9007199254740992), 'mongo')).toBe(1);
  expect(compareValues(new Double(9007199254740992), long, 'mongo')).toBe(-1);
});

test('texts sort by code points', () => {
  expect(compareTexts('😀', '\uffee')).toBe(1);
  expect(compareTexts('ab', 'abc')).toBe(-1);
  expect(compareTexts('a', 'a')).toBe(0);
});

test('arrays sort by their least and their greatest element in MongoDB', () => {
  const rows = [[2, 9], [3], [], null, 1];
  const of = (row: unknown) => row;
  expect(sortedBy(rows, of, 'mongo', 1)).toEqual([[], null, 1, [2, 9], [3]]);
  expect(sortedBy(rows, of, 'mongo', -1)).toEqual([[2, 9], [3], 1, null, []]);
  expect(sortedBy(rows, of, 'nosql', 1)).toEqual([null, 1, [], [2, 9], [3]]);
});

test('rows with equal values stay in their order, both ways', () => {
  const rows = [1, 2, 3, 4].map((n) => ({ n, group: n % 2 }));
  const order = (direction: 1 | -1) =>
    sortedBy(rows, (row) => row.group, 'nosql', direction).map(({ n }) => n);
  expect(order(1)).toEqual([2, 4, 1, 3]);
  expect(order(-1)).toEqual([1, 3, 2, 4]);
});
