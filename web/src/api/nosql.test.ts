import { expect, test } from 'vitest';
import { link } from './nosql';

test('every name of a link is encoded', () => {
  expect(link('a b', '100%', 'ü+?')).toBe('/dbs/a%20b/colls/100%25/docs/%C3%BC%2B%3F');
  expect(link('...')).toBe('/dbs/...');
});

test.each([[['.']], [['..']], [['a', '..']], [['a', 'b', '.']], [['a', 'b', '..']]] as const)(
  '%o would lead elsewhere in a browser',
  (names) => expect(() => link(...(names as unknown as [string]))).toThrow('cannot request'),
);
