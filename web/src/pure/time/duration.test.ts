import { expect, test } from 'vitest';
import { countdown, inWords, spelled, unitOf } from './duration';

test.each([
  [0, '0 seconds'],
  [1, '1 second'],
  [59, '59 seconds'],
  [60, '1 minute'],
  [61, '1 minute 1 second'],
  [5400, '1 hour 30 minutes'],
  [5401, 'about 1 hour 30 minutes'],
  [3601, 'about 1 hour'],
  [86_400, '1 day'],
  [7_776_000, '90 days'],
  [15_768_000, '182 days 12 hours'],
  [31_536_000, '365 days'],
  [63_072_000, '2 years'],
  [2_147_483_647, 'about 68 years 35 days'],
])('%i s in words', (seconds, want) => {
  expect(inWords(seconds)).toBe(want);
});

test('a value is spelled with its unit', () => {
  expect(spelled(7_776_000)).toBe('7776000 s = 90 days');
});

test.each([
  [1, 'second'],
  [90, 'second'],
  [120, 'minute'],
  [7200, 'hour'],
  [86_400, 'day'],
  [604_800, 'week'],
  [0, 'second'],
])('%i s is whole in %ss', (seconds, unit) => expect(unitOf(seconds)).toBe(unit));

test.each([
  [0, '00:00'],
  [1, '00:01'],
  [1000, '00:01'],
  [61_000, '01:01'],
  [3_600_000, '01:00:00'],
  [183_845_000, '2 d 03:04:05'],
  [-5, '00:00'],
])('%i ms count down as %s', (ms, want) => expect(countdown(ms)).toBe(want));
