import { expect, test } from 'vitest';
import { jsonFault } from './fault';

test.each([
  '{}',
  ' [1, -0.5e+3, "a\\n\\u00e9", true, false, null, {"a": {"b": []}}]\n',
  '"x"',
  '0',
])('%s is JSON', (text) => expect(jsonFault(text)).toBeNull());

test.each<[string, number, number, string]>([
  ['', 1, 1, 'expected a value but the text ends'],
  ['{\n  "a": tru\n}', 2, 8, 'expected a value but found “t”'],
  ['{\n  "a": 1', 2, 9, 'expected “,” or “}” but the text ends'],
  ['{"a": 1,}', 1, 9, 'expected a name in double quotes but found “}”'],
  ['{a: 1}', 1, 2, 'expected a name in double quotes but found “a”'],
  ['{"a" 1}', 1, 6, 'expected “:” but found “1”'],
  ['[1 2]', 1, 4, 'expected “,” or “]” but found “2”'],
  ['[01]', 1, 2, 'expected a value but found “0”'],
  ['["a\n"]', 1, 2, 'the string is not terminated'],
  ['{} x', 1, 4, 'expected the end but found “x”'],
  ['{"a": 1,\n "\\u0061": 2}', 2, 2, 'the name "\\u0061" occurs twice'],
])('%j is placed', (text, line, column, why) => {
  expect(jsonFault(text)).toEqual({ line, column, why });
});

test('depth has a limit', () => {
  expect(jsonFault('['.repeat(100_000))?.why).toMatch(/deeper/);
});
