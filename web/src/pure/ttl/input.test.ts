import { expect, test } from 'vitest';
import type { UnitName } from '../time/duration';
import { defaultInWords, draftOf, inUnit, readDraft, readSeconds, unitMeant } from './input';

test.each<[string, UnitName, number]>([
  ['1', 'second', 1],
  ['30000', 'second', 30_000],
  [' 7776000 ', 'second', 7_776_000],
  ['007', 'second', 7],
  ['2147483647', 'second', 2_147_483_647],
  ['90', 'day', 7_776_000],
  ['2', 'week', 1_209_600],
  ['35791394', 'minute', 2_147_483_640],
  ['3550', 'week', 2_147_040_000],
  ['5 s', 'day', 5],
  ['90d', 'second', 7_776_000],
  ['2 Weeks', 'second', 1_209_600],
  ['12h', 'minute', 43_200],
  ['1min', 'hour', 60],
])('%s %ss are read', (text, unit, value) => expect(readSeconds(text, unit)).toEqual({ value }));

test.each<[string, UnitName, RegExp]>([
  ['', 'second', /^Enter a number of seconds, or one with its unit: 90d, 36h, 15m, 45s\.$/],
  ['  ', 'hour', /^Enter a number of hours, or/],
  ['0', 'second', /^0 would expire everything immediately: the minimum is 1\.$/],
  ['000', 'second', /^0 would/],
  ['-0', 'second', /^-0 is not a duration/],
  [`-${'7'.repeat(500)}`, 'second', /^-7{39}… is negative/],
  [`${'7'.repeat(500)}.5`, 'second', /^7{40}… is not a whole number/],
  ['-5', 'second', /^-5 is negative: the minimum is 1\.$/],
  ['-1', 'second', /^-1 means On \(no default\): choose that option instead\.$/],
  ['1.5', 'second', /^1\.5 is not a whole number/],
  ['1.0', 'second', /^1\.0 is not a whole number: a decimal point/],
  ['.5', 'second', /^\.5 is not a whole number/],
  [
    '2147483648',
    'second',
    /^2147483648 seconds are too many: the maximum is 2,147,483,647 seconds/,
  ],
  ['3551', 'week', /^3551 weeks are too many: the maximum is 3,550 weeks/],
  ['24856', 'day', /the maximum is 24,855 days/],
  ['99999999999999999999999', 'second', /^That is too many/],
  ['1e3', 'second', /^Write 1e3 in digits/],
  ['1,000', 'second', /^Remove the digit separators: 1000\.$/],
  ['+5', 'second', /^Remove the plus sign: 5\.$/],
  ['abc', 'second', /^“abc” is not a number/],
  ['٣', 'second', /is not a number/],
  ['NaN', 'second', /is not a number/],
  ['0x10', 'second', /is not a number/],
  ['5 x', 'second', /is not a number/],
  ['1.5h', 'second', /^1\.5 is not a whole number/],
  ['30000000d', 'second', /^30000000 days are too many/],
  ['-1d', 'second', /^-1 means/],
])('%j %ss are refused in words', (text, unit, says) => {
  const read = readSeconds(text, unit);
  expect('error' in read ? read.error : read).toMatch(says);
});

test('-1 is the option that there is for it', () => {
  expect(readSeconds('-1', 'second', 1, 'Never')).toEqual({
    error: '-1 means Never: choose that option instead.',
  });
});

test('where 0 is allowed, -1 is only negative', () => {
  expect(readSeconds('0', 'second', 0)).toEqual({ value: 0 });
  expect(readSeconds('-1', 'second', 0)).toEqual({ error: '-1 is negative: the minimum is 0.' });
});

test.each([null, -1, 1, 7_776_000, 2_147_483_647])('%s is shown and read back', (value) => {
  expect(readDraft(draftOf(value))).toEqual({ value });
});

test('another unit converts what was shown, and keeps what was typed', () => {
  const shown = draftOf(7_776_000);
  const days = inUnit(shown, 'day', 7_776_000);
  expect(days).toEqual({ text: '90', unit: 'day' });
  expect(inUnit(days, 'second', 7_776_000)).toEqual({ text: '7776000', unit: 'second' });
  expect(inUnit(draftOf(61), 'minute', 61).text).toBe('61');
  expect(inUnit({ ...shown, text: '60' }, 'minute', 7_776_000).text).toBe('60');
  expect(inUnit({ ...shown, text: 'x' }, 'minute', 7_776_000).text).toBe('x');
});

test('a unit behind the number is the one that counts, until another is chosen', () => {
  expect(unitMeant({ text: '36 h', unit: 'second' })).toBe('hour');
  expect(unitMeant({ text: '36', unit: 'second' })).toBe('second');
  expect(unitMeant({ text: '36 x', unit: 'week' })).toBe('week');
  expect(inUnit({ text: '36h', unit: 'second' }, 'day', null)).toEqual({ text: '36', unit: 'day' });
});

test.each([
  [null, 'Off'],
  [-1, 'On (no default)'],
  [7_776_000, '7776000 s = 90 days'],
])('%s in words', (value, want) => expect(defaultInWords(value)).toBe(want));
