import { Decimal128, Double, Int32, Long } from 'bson';
import { expect, test } from 'vitest';
import { parseShell } from '../shell';
import {
  type Default,
  type DocumentFacts,
  expiryOfDocument,
  expiryOfItem,
  meaningOfBson,
  meaningOfJson,
} from '../ttl/reasons';
import { classInWords, classOf, type Expiring, expiryClasses } from './expiry';
import { filterOfClass } from './filters';

function item(ttl: string | null, value: Default): Expiring {
  const meaning = meaningOfJson(ttl);
  return { meaning, expiry: expiryOfItem(meaning, 1000, value) };
}

test.each<[ttl: string | null, value: Default, words: string]>([
  [null, 60, 'Collection default'],
  [null, -1, 'Never: no default'],
  [null, null, 'Never: TTL is off'],
  ['20', 60, 'Own ttl'],
  ['20', -1, 'Own ttl'],
  ['-1', 60, 'Never: ttl = -1'],
  ['-1', null, 'ttl ignored: TTL is off'],
  ['20.5', 60, 'ttl ignored: it is not a whole number'],
  ['20.5', -1, 'ttl ignored: it is not a whole number'],
  ['0', 60, 'ttl ignored: it is neither -1 nor positive'],
  ['2147483648', 60, 'ttl ignored: it is larger than 2147483647'],
  ['"20"', 60, 'ttl ignored: it is not a number'],
  ['null', -1, 'ttl ignored: it is not a number'],
])('an item with ttl %s, default %s: %s', (ttl, value, words) => {
  const { meaning, expiry } = item(ttl, value);
  expect(classInWords(classOf(meaning, expiry, value))).toBe(words);
});

const inherit: DocumentFacts = { class: 'inherit', expiresAtMs: 5, by: 'default' };

test.each<[ttl: unknown, facts: DocumentFacts, value: Default, words: string]>([
  [undefined, inherit, 60, 'Collection default'],
  [new Int32(5), { class: 'explicit', expiresAtMs: 5, by: 'ttl' }, 60, 'Own ttl'],
  [new Int32(-1), { class: 'never', expiresAtMs: null, by: null }, 60, 'Never: ttl = -1'],
  [new Int32(-1), { class: 'never', expiresAtMs: 5, by: 'at_1' }, 60, 'Date index at_1'],
  [new Double(0.5), inherit, 60, 'ttl ignored: it is not a whole number'],
  [Decimal128.fromString('5'), inherit, 60, 'ttl ignored: it is not a number'],
  [
    Long.fromNumber(5),
    { class: 'inherit', expiresAtMs: null, by: null },
    -1,
    'ttl ignored: it was written while per-document TTL was off',
  ],
  [new Int32(-1), inherit, 60, 'ttl ignored: it was written while per-document TTL was off'],
])('a document with ttl %s, %o, default %s: %s', (ttl, facts, value, words) => {
  const meaning = meaningOfBson(ttl);
  const expiry = expiryOfDocument(meaning, facts, value);
  expect(classInWords(classOf(meaning, expiry, value))).toBe(words);
});

test('classes are counted, the largest first', () => {
  const sample = [null, '20', null, '"x"', null, 'true', '30', '1.5'].map((ttl) => item(ttl, 60));
  expect(
    expiryClasses(sample, 60).map(({ of, count, share }) => [classInWords(of), count, share]),
  ).toEqual([
    ['Collection default', 3, 0.375],
    ['Own ttl', 2, 0.25],
    ['ttl ignored: it is not a number', 2, 0.25],
    ['ttl ignored: it is not a whole number', 1, 0.125],
  ]);
  expect(expiryClasses([], 60)).toEqual([]);
});

test('every filter for MongoDB is one that its shell reads', () => {
  const classes = ['off', 'kind', 'fraction', 'large', 'low'] as const;
  const filters = [
    filterOfClass({ kind: 'own' }, 'mongo'),
    filterOfClass({ kind: 'never' }, 'mongo'),
    filterOfClass({ kind: 'none', isOff: true }, 'mongo'),
    ...classes.map((why) => filterOfClass({ kind: 'ignored', why }, 'mongo')),
  ];
  for (const filter of filters) expect(parseShell(filter ?? '')).toHaveProperty('value');
  expect(new Set(filters).size).toBe(filters.length);
});

test('filters for NoSQL, and classes that no filter tells', () => {
  expect(filterOfClass({ kind: 'never' }, 'nosql')).toBe('WHERE c.ttl = -1');
  expect(filterOfClass({ kind: 'ignored', why: 'kind' }, 'nosql')).toBe(
    'WHERE IS_DEFINED(c.ttl) AND NOT IS_NUMBER(c.ttl)',
  );
  for (const api of ['mongo', 'nosql'] as const) {
    expect(filterOfClass({ kind: 'ignored', why: 'late' }, api)).toBeNull();
    expect(filterOfClass({ kind: 'index', name: 'at_1' }, api)).toBeNull();
  }
});
