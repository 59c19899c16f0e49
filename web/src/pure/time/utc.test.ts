import { expect, test } from 'vitest';
import { fromInput, timeOfDay, toInput, utc } from './utc';

test.each([
  [0, '1970-01-01 00:00:00 UTC'],
  [1_795_317_596_999, '2026-11-22 03:19:56 UTC'],
  [4_294_967_296_000, '2106-02-07 06:28:16 UTC'],
  [253_402_300_800_000, '+010000-01-01 00:00:00 UTC'],
  [1e300, 'out of range'],
  [Number.NaN, 'out of range'],
])('%d ms is %s', (ms, want) => expect(utc(ms)).toBe(want));

test.each([
  ['2026-11-22T03:19:56', 1_795_317_596_000],
  ['2026-11-22T03:19', 1_795_317_540_000],
  ['2026-11-22 03:19:56.5', 1_795_317_596_500],
  [' 2026-11-22 03:19 ', 1_795_317_540_000],
  ['2026-02-30T25:00', null],
  ['2026-11-22', 1_795_305_600_000],
  ['2026-02-30', null],
  ['2026-02-30 10:00', null],
  ['', null],
])('%s is %s', (text, want) => expect(fromInput(text)).toBe(want));

test('a time of day is in UTC, whatever the zone of the browser', () => {
  expect(timeOfDay(1_795_317_596_999)).toBe('03:19:56 UTC');
});

test('an instant goes to the input and back', () => {
  expect(toInput(1_795_317_596_000)).toBe('2026-11-22 03:19:56');
  expect(fromInput(toInput(1_795_317_596_000))).toBe(1_795_317_596_000);
});
