import { expect, test } from 'vitest';
import { isCall } from '../../pure/shell/call';
import { isPasted, putIn } from './pasted';

test.each([
  ['{}', 'db.c.find()', 'db.c.find()'],
  ['', 'abc', 'abc'],
  ['abc', 'abXc', 'X'],
  ['aa', 'aaa', 'a'],
  ['abc', 'ac', ''],
  ['same', 'same', ''],
])('from %s to %s', (before, after, want) => expect(putIn(before, after)).toBe(want));

test.each([
  ['{}', 'db.c.find()', true],
  ['', 'db.c.find()', true],
  ['db.c.find()', 'db.c.find().sort({a: 1})', false],
  ['db.c.find(', 'db.c.find()', false],
  ['d', 'db.c.find()', false],
  ['{}', '{ a: 1 }', false],
  ['// a', '// a db.c.find()', false],
])('from %s to %s a line was pasted: %s', (before, after, want) =>
  expect(isPasted(before, after, isCall)).toBe(want),
);
