import { expect, test } from 'vitest';
import type { CollectionFacts } from '../../api/admin';
import { mayLose, tollWords } from './toll';

const facts = (documents: number, value: number | null, dates = 0) =>
  ({ live: { documents, bytes: 1 }, default: value, date_indexes: dates }) as CollectionFacts;

test.each([
  [facts(0, 60), false],
  [facts(1, null), false],
  [facts(1, 60), true],
  [facts(1, -1), true],
  [facts(1, null, 1), true],
])('whether a collection can lose anything %#', (known, want) => {
  expect(mayLose(known)).toBe(want);
});

test('how many, in words', () => {
  expect(tollWords({ documents: 1, exact: true })).toBe('1 document');
  expect(tollWords({ documents: 1200, exact: false })).toBe('about 1,200 documents');
});
