import { Decimal128, Double, Int32, Long, ObjectId } from 'bson';
import { describe, expect, test } from 'vitest';
import { editText, typedValue, whyNotInCell } from './cellValue';

const HEX = '65f0c0ffee0123456789abcd';

describe('a value keeps its type', () => {
  test.each<[string, unknown, string, unknown]>([
    ['text', 'a', '5', '5'],
    ['int', new Int32(1), ' 7 ', new Int32(7)],
    ['long', Long.fromNumber(1), '9007199254740993', Long.fromString('9007199254740993')],
    ['double', new Double(1.5), '2', new Double(2)],
    ['decimal', Decimal128.fromString('1.10'), '2.20', Decimal128.fromString('2.20')],
    ['boolean', true, 'false', false],
    ['date', new Date(0), '2026-01-31T12:00:00Z', new Date('2026-01-31T12:00:00Z')],
    ['date without a zone', new Date(0), '2026-05-04 02:00', new Date('2026-05-04T02:00:00Z')],
    ['day', new Date(0), '2026-05-04', new Date('2026-05-04T00:00:00Z')],
    ['date of a zone', new Date(0), '2026-05-04T02:00+02:00', new Date('2026-05-04T00:00:00Z')],
    ['ObjectId', new ObjectId(), HEX, ObjectId.createFromHexString(HEX)],
    ['null', null, '{ a: 1 }', { a: new Int32(1) }],
    ['null', null, 'plain words', 'plain words'],
  ])('%s', (_, before, typed, wanted) => {
    expect(typedValue(typed, before, 'mongo')).toEqual({ value: wanted });
  });

  test('what is shown to be edited is read back as it was', () => {
    const values = ['x "y"', new Int32(-3), Long.MIN_VALUE, new Double(0.5), false, new Date(5)];
    for (const value of values)
      expect(typedValue(editText(value), value, 'mongo')).toEqual({ value });
  });
});

test.each<[unknown, string, RegExp]>([
  [new Int32(1), '1.5', /whole/],
  [new Int32(1), '3000000000', /32 bits/],
  [Long.ONE, '9223372036854775808', /64 bits/],
  [1, '9007199254740993', /digits/],
  [1, 'one', /number/],
  [true, 'yes', /true or false/],
  [new Date(0), 'soon', /date/],
  [new Date(0), '2026-02-30', /date/],
  [new Date(0), '"); x("', /date/],
  [new ObjectId(), '12', /hexadecimal/],
])('%s does not become %s', (before, typed, why) => {
  expect(typedValue(typed, before, typeof before === 'number' ? 'nosql' : 'mongo')).toEqual({
    error: expect.stringMatching(why) as string,
  });
});

test('what has parts, and what is named strangely, belongs into the editor', () => {
  expect(whyNotInCell({ a: 1 }, ['x'], 'nosql')).toMatch(/editor/);
  expect(whyNotInCell(new Int32(1), ['a.b'], 'mongo')).toMatch(/dot/);
  expect(whyNotInCell(1, ['a.b'], 'nosql')).toBeNull();
  expect(whyNotInCell(undefined, ['a'], 'nosql')).toMatch(/does not exist/);
});
