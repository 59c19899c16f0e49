import { expect, test } from 'vitest';
import { coveringSteps, offsetWords, parseAdvance } from './clock';

test.each([
  [0, '0 ms, the same second'],
  [-12, '12 ms, the same second'],
  [90_000, "the machine's clock is 1 minute 30 seconds ahead"],
  [-7_776_000_000, "the machine's clock is 90 days behind"],
])('%i ms: %s', (ms, want) => expect(offsetWords(ms)).toBe(want));

test.each([
  ['10', 1, 10],
  [' 1.5 ', 60, 90],
  ['.001', 1, 0.001],
  ['90', 86_400, 7_776_000],
])('%s of %i s are %d s', (text, unit, seconds) =>
  expect(parseAdvance(text, unit)).toEqual({ seconds }),
);

test.each([
  ['', /Enter a number/],
  ['-5', /forward/],
  ['0', /does not move/],
  ['0.0001', /does not move/],
  ['1e3', /"1e3" is not a number/],
  ['ten', /not a number/],
  ['99999999999', /too far/],
])('%j is refused: %s', (text, want) => {
  const parsed = parseAdvance(text, 1);
  expect('error' in parsed ? parsed.error : '').toMatch(want);
});

test.each([
  [1, 1, 1],
  [0.5, 1, 1],
  [7_776_000, 7_776_000, 1],
  [31_536_000, 31_536_000, 1],
  [63_072_001, 21_024_001, 3],
])('%d s are covered by steps of %i s: %i', (seconds, step, steps) =>
  expect(coveringSteps(seconds)).toEqual({ step, steps }),
);

test('what lies beyond every forecast is not covered', () => {
  expect(coveringSteps(31_536_000 * 401)).toBeNull();
});
