import { Int32 } from 'bson';
import { expect, test } from 'vitest';
import { documentText, fieldProblem, filterOf, secondsInWords, traits } from './indexWords';

const index = {
  name: 'at_1',
  key: { at: new Int32(1) },
  expireAfterSeconds: 60,
  all: {
    hidden: true,
    unique: false,
    sparse: true,
    partialFilterExpression: { a: { $gt: new Int32(5) } },
  },
};

test('an index in words', () => {
  expect(documentText(index.key)).toBe('{"at":1}');
  expect(filterOf(index)).toBe('{"a":{"$gt":5}}');
  expect(filterOf({ ...index, all: {} })).toBeNull();
  expect(traits(index)).toBe('sparse, hidden');
});

test.each([
  [null, ''],
  [-1, '-1 (no default)'],
  [0, '0 s = at the date itself'],
  [86_400, '86400 s = 1 day'],
])('%s seconds', (seconds, want) => expect(secondsInWords(seconds)).toBe(want));

test.each([
  ['', /Enter/],
  ['_ts', /Time to live/],
  ['_id', /cannot/],
])('the field %j is refused', (field, says) => expect(fieldProblem(field)).toMatch(says));

test('other fields are left to the server', () => expect(fieldProblem('a.b')).toBeNull());
