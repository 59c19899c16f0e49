import { expect, test } from 'vitest';
import { typedMove } from './typedMove';

test.each<[string, number | null]>([
  ['90d', 7_776_000],
  ['+10 min', 600],
  ['1.5 hours', 5400],
  ['advance 2 days', 172_800],
  ['Advance the clock by 1 week', 604_800],
  ['advance clock by 5 s', 5],
  ['0 s', null],
  ['90', null],
  ['-5 d', null],
  ['5 decades', null],
  ['90 mours', null],
  ['d', null],
  ['99999999999 w', null],
])('%o is %o seconds', (text, want) => expect(typedMove(text, 1e9)).toBe(want));
