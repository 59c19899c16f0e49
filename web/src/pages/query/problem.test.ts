import { expect, test } from 'vitest';
import { checkSize, MAX_QUERY_BYTES, marksOf, placeIn, problemsOf } from './problem';

test.each([
  ['abc', 0, 'line 1, column 1'],
  ['abc', 3, 'line 1, column 4'],
  ['a\nbc\nd', 3, 'line 2, column 2'],
  ['a\nbc\nd', 5, 'line 3, column 1'],
])('%j at %i is %s', (text, at, want) => expect(placeIn(text, at)).toBe(want));

const errors = (start: number, end: number) =>
  `{"errors":[{"severity":"Error","location":{"start":${start},"end":${end}},"code":"SC1001","message":"Wrong near '}'"}]}`;

test.each([
  [errors(9, 13), [{ sentence: "Wrong near '}' (SC1001)", where: 'line 2, column 2' }]],
  [
    `Message: ${errors(9, 13)}\r\nmore }`,
    [{ sentence: "Wrong near '}' (SC1001)", where: 'line 2, column 2' }],
  ],
  [errors(0, 0), [{ sentence: "Wrong near '}' (SC1001)", where: null }]],
  [errors(99, 100), [{ sentence: "Wrong near '}' (SC1001)", where: null }]],
  ['{"errors": nothing', [{ sentence: '{"errors": nothing', where: null }]],
  ['It is not there.', [{ sentence: 'It is not there.', where: null }]],
])('%s says %j', (message, want) => expect(problemsOf(message, 'SELECT \nFRMO c')).toEqual(want));

test.each([
  [errors(9, 13), [{ from: 9, to: 13, message: "Wrong near '}'" }]],
  [errors(0, 0), []],
  [errors(99, 100), []],
  ['It is not there.', []],
])('%s marks %j', (message, want) => expect(marksOf(message, 'SELECT \nFRMO c')).toEqual(want));

test.each([
  ['x'.repeat(MAX_QUERY_BYTES), null],
  ['x'.repeat(MAX_QUERY_BYTES + 1), /is 512 KB; the maximum is 512 KB/],
  ['ü'.repeat(MAX_QUERY_BYTES / 2 + 1), /the maximum is 512 KB/],
  ['x'.repeat(20_000_000), /is 19 MB/],
])('texts beyond 512 KB are refused', (text, want) => {
  if (want === null) expect(() => checkSize('Query', text)).not.toThrow();
  else expect(() => checkSize('Query', text)).toThrow(want);
});
