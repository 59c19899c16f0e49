import { expect, test } from 'vitest';
import { partsOf, valueAt } from './keyPath';

test.each<[string, string[]]>([
  ['/user', ['user']],
  ['/a/b', ['a', 'b']],
  ['/"a b"/c', ['a b', 'c']],
  ['/"a/b"', ['a/b']],
])('%s', (path, want) => expect(partsOf(path)).toEqual(want));

test('what lies at a path', () => {
  expect(valueAt({ a: { b: null } }, ['a', 'b'])).toBeNull();
  expect(valueAt({ a: 'x' }, ['a', 'b'])).toBeUndefined();
  expect(valueAt({}, ['constructor'])).toBeUndefined();
});
