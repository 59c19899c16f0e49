import { expect, test } from 'vitest';
import { textOf } from './nosqlRun';

test.each([
  ['{"_rid":"a","Documents":[],"_count":0}', '[]'],
  [
    '{"_rid":"a","Documents":[{"n":20.0,"big":9007199254740993}],"_count":1}',
    '[\n  {\n    "n": 20.0,\n    "big": 9007199254740993\n  }\n]',
  ],
  ['{"Documents":[1.50,"]}"]}', '[\n  1.50,\n  "]}"\n]'],
  ['no JSON', 'no JSON'],
])('of %s the results are %s', (text, want) => expect(textOf(text)).toBe(want));
