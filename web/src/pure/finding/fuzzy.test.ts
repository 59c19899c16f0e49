import { expect, test } from 'vitest';
import { processorMs } from '../testing/processor';
import { best, score } from './fuzzy';

const NAMES = ['app › carts', 'app › sessions', 'quickstart › sessions', 'logs › assessments'];
const found = (typed: string, most = 10) => best(NAMES, (name) => name, typed, most);

test.each<[string, string[]]>([
  ['', NAMES],
  ['cart', ['app › carts']],
  ['SESS', ['app › sessions', 'quickstart › sessions', 'logs › assessments']],
  // Prefixes of consecutive words.
  ['qs', ['quickstart › sessions']],
  ['quisess', ['quickstart › sessions']],
  ['q sess', ['quickstart › sessions']],
  // In any order.
  ['sess quick', ['quickstart › sessions']],
  ['app › sess', ['app › sessions']],
  ['sess cart', []],
  ['xyz', []],
])('%o finds %o', (typed, want) => expect(found(typed)).toEqual(want));

const LONG = `a-very-long-name-of-a-collection-${'with-many-parts-'.repeat(3)}for-reports-daily`;

test.each([
  ['sess', 'crm › customers'],
  ['delete', 'documents.kept.elsewhere.archive.2026'],
  ['ord', LONG],
  // Two letters within a word match nearly every name.
  ['es', 'app › sessions'],
])('letters of %o that are scattered over %o do not match', (typed, text) => {
  expect(score(text, typed)).toBeNull();
});

test('no more than asked for', () => expect(found('', 2)).toEqual(NAMES.slice(0, 2)));

test('whole words come before beginnings of words, and those before parts within them', () => {
  const order = ['count', 'countries', 'Account metrics'];
  expect(best([...order].reverse(), (text) => text, 'count', 10)).toEqual(order);
  const runs = score('customer orders › log', 'cuo');
  expect(score('cuo', 'cuo')).toBeGreaterThan(runs ?? Infinity);
  expect(runs).toBeGreaterThan(score('a acuous', 'cuo') ?? Infinity);
});

test('of names that match alike the shorter comes first', () => {
  expect(best(['log of orders', 'log'], (text) => text, 'log', 10)).toEqual([
    'log',
    'log of orders',
  ]);
});

test('ten thousand names while one types', () => {
  const many = Array.from({ length: 10_000 }, (_, at) => `database › collection-${at}`);
  const find = () => best(many, (name) => name, 'col9999', 50);
  expect(find()[0]).toBe('database › collection-9999');
  expect(processorMs(find)).toBeLessThan(60);
});

test('a name of many words that begin alike takes no longer', () => {
  const name = 'a-'.repeat(500);
  expect(processorMs(() => score(name, `${'a'.repeat(400)}b`))).toBeLessThan(60);
});
