import { Decimal128, Double, Int32, Long, ObjectId, Timestamp } from 'bson';
import { expect, test } from 'vitest';
import { bareText, typedText } from './bare';

const ID = '0123456789abcdef01234567';

test.each([
  [undefined, '', null],
  ['ada', 'ada', null],
  [new ObjectId(ID), ID, `ObjectId("${ID}")`],
  [Long.fromString('9007199254740993'), '9007199254740993', 'NumberLong("9007199254740993")'],
  [Decimal128.fromString('471.450'), '471.450', 'NumberDecimal("471.450")'],
  [new Date('2026-01-31T12:00:00Z'), '2026-01-31 12:00:00', 'ISODate("2026-01-31T12:00:00.000Z")'],
  [
    new Date('2026-01-31T12:00:00.070Z'),
    '2026-01-31 12:00:00.070',
    'ISODate("2026-01-31T12:00:00.070Z")',
  ],
  [new Date(Number.NaN), 'ISODate("out of range")', 'ISODate("out of range")'],
  [new Int32(7), '7', null],
  [new Double(7), '7.0', null],
  [7, '7', null],
  [9007199254740991, '9007199254740991', null],
  [new Timestamp({ t: 1, i: 2 }), 'Timestamp({ t: 1, i: 2 })', null],
  [{ at: new Date(0) }, '{ at: ISODate("1970-01-01T00:00:00.000Z") }', null],
])('%s', (value, text, typed) => {
  expect(bareText(value)).toBe(text);
  expect(typedText(value)).toBe(typed);
});
