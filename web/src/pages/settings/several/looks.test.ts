import { expect, test } from 'vitest';
import type { CollectionFacts, Preview } from '../../../api/admin';
import { NOUNS } from '../ttl/impact';
import { dyingOf, dyingWords, haveMoved, type Look, type Result, resultWords } from './looks';

const zero = { documents: 0, bytes: 0 };
const look = (dying: number, live: number, exact = true): Look => ({
  facts: { live: { documents: live, bytes: 1 } } as CollectionFacts,
  preview: {
    dies_now: { documents: dying, bytes: 1 },
    dies_within: { hour: zero, day: zero, week: zero },
    exact,
  } satisfies Preview,
});
const looks = (...all: Look[]) => new Map(all.map((one, at) => [`c${at}`, one]));

test('what disappears in several collections, in words', () => {
  const some = looks(look(5, 10), look(0, 20), look(7, 10), { failure: 'gone' });
  expect(dyingOf(some)).toBe(12);
  expect(dyingWords(some, 60, NOUNS.mongo)).toBe(
    '12 of 40 documents in 2 of 4 collections are already older than this and will expire immediately.',
  );
  expect(dyingWords(looks(look(1, 1, false)), -1, NOUNS.nosql)).toBe(
    'About 1 of 1 item in 1 of 1 container has a “ttl” that has elapsed and will expire immediately.',
  );
  expect(dyingWords(looks(look(0, 9)), null, NOUNS.mongo)).toBe('Nothing expires immediately.');
  expect(dyingWords(looks(look(0, 9, false)), 60, NOUNS.mongo)).toBe(
    'Nothing expires immediately. (This is an estimate.)',
  );
});

test('numbers that have moved are asked about again', () => {
  const agreed = looks(look(5, 10), look(0, 20));
  expect(haveMoved(agreed, looks(look(5, 10), look(0, 20)), false)).toBe(false);
  expect(haveMoved(agreed, looks(look(5, 10), look(1, 20)), true)).toBe(true);
  expect(haveMoved(agreed, looks(look(5, 10), { failure: 'gone' }), false)).toBe(false);
});

test('how it ended, in words', () => {
  const ended = new Map<string, Result>([
    ['a', { kind: 'set' }],
    ['b', { kind: 'same' }],
  ]);
  expect(resultWords(ended, NOUNS.mongo)).toBe('2 collections have the new default.');
  const failed = new Map<string, Result>([...ended, ['c', { kind: 'failed', text: 'no' }]]);
  expect(resultWords(failed, NOUNS.nosql)).toBe('2 containers have the new default, 1 failed.');
});
