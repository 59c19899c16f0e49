import { expect, test } from 'vitest';
import { processorMs } from '../testing/processor';
import { best, score } from './fuzzy';

const NAMES = ['app › carts', 'app › sessions', 'quickstart › sessions', 'logs › assessments'];
const found = (typed: string, most = 10) => best(NAMES, (name) => name, typed, most);

test.each<[string, string[]]>([
  ['', NAMES],
  ['cart', ['app › carts', 'quickstart › sessions']],
  ['SESS', ['app › sessions', 'quickstart › sessions', 'logs › assessments']],
  // The first letters of words.
  ['qs', ['quickstart › sessions']],
  ['q sess', ['quickstart › sessions']],
  // In any order.
  ['sess quick', ['quickstart › sessions']],
  ['sess cart', []],
  ['xyz', []],
])('%o finds %o', (typed, want) => expect(found(typed)).toEqual(want));

test('no more than asked for', () => expect(found('', 2)).toEqual(NAMES.slice(0, 2)));

test('what begins a word is better than what stands inside of one', () => {
  const [begins, inside] = [score('sessions', 'sess'), score('assessments', 'sess')];
  expect(begins).toBeGreaterThan(inside ?? Infinity);
  expect(inside).toBeGreaterThan(score('sixes as scores', 'sess') ?? Infinity);
});

test('ten thousand names while one types', () => {
  const many = Array.from({ length: 10_000 }, (_, at) => `database › collection-${at}`);
  const find = () => best(many, (name) => name, 'col9999', 50);
  expect(find()[0]).toBe('database › collection-9999');
  expect(processorMs(find)).toBeLessThan(60);
});
