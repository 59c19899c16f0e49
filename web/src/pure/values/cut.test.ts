import { Binary, Long, ObjectId } from 'bson';
import { expect, test } from 'vitest';
import { printShell } from '../shell';
import { cut } from './cut';

test('a small value is the same', () => {
  const small = { a: 1, b: ['x', null, new ObjectId()], c: { d: Long.fromNumber(5) } };
  expect(printShell(cut(small), 0)).toBe(printShell(small, 0));
});

test.each([
  ['a string', 'é'.repeat(1_000_000)],
  ['an array', Array.from({ length: 1_000_000 }, (_, at) => at)],
  ['an array of strings', Array.from({ length: 1_000 }, () => 'x'.repeat(1_000))],
  ['an object', Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [`k${at}`, at]))],
  ['long keys', { ['k'.repeat(100_000)]: 1 }],
  ['nested', { a: { b: [{ c: 'y'.repeat(100_000) }] } }],
  ['bytes', new Binary(new Uint8Array(1_000_000))],
])('%s is cut, and begins as the whole does', (_, value) => {
  const [short, whole] = [printShell(cut(value), 0), printShell(value, 0)];
  expect(short.length).toBeLessThan(6_000);
  expect(short.slice(0, 200)).toBe(whole.slice(0, 200));
});

test('a key named __proto__ stays a key', () => {
  const value = JSON.parse('{"__proto__": {"a": 1}}');
  expect(Object.keys(cut(value) as object)).toEqual(['__proto__']);
});
