import { Double, Int32, Long, ObjectId } from 'bson';
import { expect, test } from 'vitest';
import { numbers } from '../testing/random';
import { finishDocument, finishItem } from './finish';
import type { Found } from './found';
import { type JsonForm, jsonReader } from './json';
import { readAll } from './testing';

const items = (form: JsonForm, text: string, length = 1e9, most?: number) =>
  readAll(jsonReader(form, finishItem, most), text, () => length);
const brief = (found: Found<unknown>[]) =>
  found.map((one) =>
    one.kind === 'document' ? one.value : `${one.line}:${one.column} ${one.why}`,
  );

test.each<[JsonForm, string, unknown[]]>([
  ['json', '[]', []],
  ['json', '', []],
  ['json', ' \n ', []],
  ['json', '\ufeff[{"a":1}]', ['{"a":1}']],
  ['json', '[{"a":9007199254740993},\n {"b":2.0}]', ['{"a":9007199254740993}', '{"b":2.0}']],
  ['json', '{"a":"}{[\\"]"}\n{"b":[{}]} {}', ['{"a":"}{[\\"]"}', '{"b":[{}]}', '{}']],
  ['json', '[{"a":1}] x', ['{"a":1}', '1:12 unexpected text after the end of the array.']],
  ['json', '[{"a":1},]', ['{"a":1}', '1:10 a document is missing here.']],
  ['json', '[{"a":1}', ['{"a":1}', '1:9 the array is not closed: the file may be cut off.']],
  ['json', '[7,{"b":1}]', ['1:2 an item must be an object in { }.', '{"b":1}']],
  [
    'json',
    '[\n{"a" 1},\n{"b":2} {"c":3},{"d":4}]',
    ['2:6 expected ":" but found "1".', '3:9 unexpected "{" after the value.', '{"d":4}'],
  ],
  ['json', '{"a":1}}{"b":2}', ['{"a":1}', '1:8 expected a value but found "}".']],
  [
    'lines',
    '{"a":1}\r\n\n{"a":\n{"b":2}',
    ['{"a":1}', '3:6 expected a value but found the end.', '{"b":2}'],
  ],
  ['lines', '{"a":1,"a":2}', ['1:8 the name "a" occurs twice.']],
])('%s %j', (form, text, want) => {
  expect(brief(items(form, text))).toEqual(want);
  expect(brief(items(form, text, 1))).toEqual(want);
});

test('lines are those of the file', () => {
  const found = items('json', '[\n\n  {"a":\n1},\n\n{"b":2}\n]');
  expect(found.map(({ line }) => line)).toEqual([3, 6]);
});

test('no more of a document is held than the bound, and reading goes on behind it', () => {
  const long = `{"a":"${'x'.repeat(100)}"}`;
  const want = ['{"a":1}', expect.stringMatching(/^1:10 more than 50 characters/), '{"b":2}'];
  expect(brief(items('json', `[{"a":1},${long},{"b":2}]`, 7, 50))).toEqual(want);
  expect(brief(items('lines', `${long}\n{"b":2}`, 7, 50)).at(-1)).toBe('{"b":2}');
});

test('Extended JSON of both kinds becomes values of BSON', () => {
  const text = `{"_id":{"$oid":"65f0c0ffee0123456789abcd"},"i":5,"l":9007199254740993,"d":5.0,
    "big":1e400,"c":{"$numberInt":"7"},"at":{"$date":"2026-01-31T12:00:00Z"},
    "old":{"$date":{"$numberLong":"-1"}},"__proto__":{"x":1}}`;
  const [one] = readAll(jsonReader('json', finishDocument), text, () => 11);
  expect(one).toMatchObject({ kind: 'document', line: 1 });
  const value = (one as { value: Record<string, unknown> }).value;
  expect(value._id).toEqual(ObjectId.createFromHexString('65f0c0ffee0123456789abcd'));
  expect(value.i).toEqual(new Int32(5));
  expect(value.l).toEqual(Long.fromString('9007199254740993'));
  expect(value.d).toEqual(new Double(5));
  expect(value.big).toEqual(new Double(Infinity));
  expect(value.c).toEqual(new Int32(7));
  expect(value.at).toEqual(new Date('2026-01-31T12:00:00Z'));
  expect(value.old).toEqual(new Date(-1));
  expect(Object.hasOwn(value, '__proto__')).toBe(true);
});

test.each([
  ['{"a":{"$oid":"7"}}', '1:6 ObjectId needs 24 hex digits.'],
  ['{"$oid":"65f0c0ffee0123456789abcd"}', '1:1 this is a value of Extended JSON, not a document.'],
])('%s is no document', (text, want) => {
  expect(brief(readAll(jsonReader('json', finishDocument), text, () => 5))).toEqual([want]);
});

test('parts of any lengths give the same', () => {
  const next = numbers(3);
  const pieces = [
    '{',
    '}',
    '[',
    ']',
    '"',
    '\\',
    ',',
    '1',
    ':',
    '\n',
    ' ',
    '"a":1',
    '{"b":2}',
    '\r',
  ];
  for (let round = 0; round < 3000; round += 1) {
    const form: JsonForm = round % 2 === 0 ? 'json' : 'lines';
    const open = round % 4 === 0 ? '[' : '';
    const text =
      open + Array.from({ length: next(14) }, () => pieces[next(pieces.length)]).join('');
    const whole = items(form, text);
    expect(readAll(jsonReader(form, finishItem), text, () => 1 + next(3))).toEqual(whole);
  }
});
