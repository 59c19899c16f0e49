import { Decimal128, Int32, Long } from 'bson';
import { expect, test } from 'vitest';
import { sampleFacts } from '../../pure/schema/fields';
import { differentInWords, kindsInWords, percent, rangesOf, readable, telling } from './fieldWords';
import { sampleQuery } from './sample';

test.each([
  [0, '0 %'],
  [0.001, 'under 1 %'],
  [0.5, '50 %'],
  [0.999, 'over 99 %'],
  [1, '100 %'],
])('a share of %d is %s', (share, want) => expect(percent(share)).toBe(want));

const documents = [
  { n: new Int32(5), at: new Date(0), tags: ['a'], s: 'x' },
  { n: new Int32(7), at: new Date(0), tags: ['a', 'b'], s: 'x' },
  { n: null, s: 'y' },
];
const facts = new Map(
  sampleFacts(documents, 'mongo').fields.map((field) => [field.path, field] as const),
);
const of = (path: string) => {
  const found = facts.get(path);
  if (found === undefined) throw new Error(`there is no ${path}`);
  return found;
};

test('a field in words', () => {
  expect(kindsInWords(of('n').kinds, 3)).toBe('int 67 %, null 33 %');
  expect(kindsInWords(of('s').kinds, 3)).toBe('string');
  expect(rangesOf(of('n'))).toEqual(['5 to 7']);
  expect(rangesOf(of('at'))).toEqual(['1970-01-01 00:00:00 UTC']);
  expect(rangesOf(of('tags'))).toEqual(['1 to 2, on average 1.5 elements']);
  expect(telling(of('s'))).toEqual([{ value: '"x"', count: 2 }]);
  expect(differentInWords(of('s'))).toBe('2 different values');
  expect(differentInWords(of('tags'))).toBe('');
});

test('values and ranges are read without the words of their types', () => {
  const amounts = [
    { d: Decimal128.fromString('471.450'), l: Long.fromString('9007199254740993') },
    { d: Decimal128.fromString('5.00'), l: Long.fromString('7') },
  ];
  const found = sampleFacts(amounts, 'mongo').fields;
  expect(found.map((field) => rangesOf(field))).toEqual([
    ['5.00 to 471.450'],
    ['7 to 9007199254740993'],
  ]);
  expect(found.map(({ top }) => readable(top[0]?.value ?? ''))).toEqual([
    { text: '471.450', kind: 'decimal' },
    { text: '9007199254740993', kind: 'long' },
  ]);
});

test.each(['5', '"x"', 'true', 'null', '"long te…'])('%s is read as it is', (text) =>
  expect(readable(text)).toEqual({ text, kind: null }),
);

test('a sample of more items than are wanted is chosen at random', () => {
  expect(sampleQuery(100, 100)).toBe('SELECT * FROM c');
  expect(sampleQuery(100, 30_000)).toBe('SELECT * FROM c WHERE RAND() < 0.00333333');
});
