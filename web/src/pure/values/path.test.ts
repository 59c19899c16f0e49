import { Int32, ObjectId } from 'bson';
import { expect, test } from 'vitest';
import { texts } from '../testing/random';
import { kindOf } from './kind';
import { eachField, partsOfPath, pathText, valueAtPath } from './path';

test('a path of any names reads back', () => {
  const next = texts(1, 'a.\\ b');
  for (let round = 0; round < 2000; round += 1) {
    const parts = Array.from({ length: 1 + (round % 3) }, () => next(4));
    expect(partsOfPath(pathText(parts))).toEqual(parts);
  }
});

test('values are found through objects, not through arrays or values of BSON', () => {
  const document = { a: { b: { c: 1 } }, l: [{ x: 1 }], id: new ObjectId(), 'x.y': 2 };
  expect(valueAtPath(document, ['a', 'b', 'c'])).toBe(1);
  expect(valueAtPath(document, ['l', '0'])).toBeUndefined();
  expect(valueAtPath(document, ['id', 'buffer'])).toBeUndefined();
  expect(valueAtPath(document, ['toString'])).toBeUndefined();
  expect(valueAtPath(document, partsOfPath('x\\.y'))).toBe(2);
});

test('fields are walked down to a level', () => {
  const seen: string[] = [];
  eachField({ a: { b: { c: { d: 1 } } }, n: new Int32(1) }, 3, (parts) => {
    seen.push(pathText(parts));
  });
  expect(seen).toEqual(['a', 'a.b', 'a.b.c', 'n']);
});

test('types have the names of their database', () => {
  const given = [undefined, null, 1, new Int32(1), 'x', true, [], {}, new Date(0), new ObjectId()];
  expect(given.map(kindOf)).toEqual([
    ...['missing', 'null', 'number', 'int', 'string', 'boolean'],
    ...['array', 'object', 'date', 'objectId'],
  ]);
});
