import { expect, test } from 'vitest';
import { jsonFault } from './fault';

test.each([
  '{}',
  ' [1, -0.5e+3, "a\\n\\u00e9", true, false, null, {"a": {"b": []}}]\n',
  '"x"',
  '0',
])('%s is JSON', (text) => expect(jsonFault(text)).toBeNull());

test.each<[string, number, number, string]>([
  ['', 1, 1, 'the text ends where a value is expected'],
  ['{\n  "a": tru\n}', 2, 8, '“t” stands where a value is expected'],
  ['{\n  "a": 1', 2, 9, 'the text ends where “,” or “}” is expected'],
  ['{"a": 1,}', 1, 9, '“}” stands where a name in double quotes is expected'],
  ['{a: 1}', 1, 2, '“a” stands where a name in double quotes is expected'],
  ['{"a" 1}', 1, 6, '“1” stands where “:” is expected'],
  ['[1 2]', 1, 4, '“2” stands where “,” or “]” is expected'],
  ['[01]', 1, 2, '“0” stands where a value is expected'],
  ['["a\n"]', 1, 2, '“"” stands where a text that is closed is expected'],
  ['{} x', 1, 4, '“x” stands where the end is expected'],
  ['{"a": 1,\n "\\u0061": 2}', 2, 2, 'the name "\\u0061" occurs twice'],
])('%j is placed', (text, line, column, why) => {
  expect(jsonFault(text)).toEqual({ line, column, why });
});

test('depth has a limit', () => {
  expect(jsonFault('['.repeat(100_000))?.why).toMatch(/deeper/);
});
