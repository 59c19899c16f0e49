import { expect, test } from 'vitest';
import { dayByKey, dayOf, monthsLater, weeksOf } from './calendar';

const at = (text: string) => Date.parse(`${text}Z`);
const day = (ms: number) => new Date(ms).toISOString().slice(0, 10);

test.each([
  // Starts on a Sunday.
  ['2026-02-11T10:00', 4 + 1, '2026-01-26', '2026-03-01'],
  ['2026-11-27T03:00', 6, '2026-10-26', '2026-12-06'],
  ['2027-02-01T00:00', 4, '2027-02-01', '2027-02-28'],
])('%s lies in %i weeks', (text, count, first, last) => {
  const weeks = weeksOf(at(text));
  expect(weeks).toHaveLength(count);
  expect(day(weeks[0]?.[0] ?? 0)).toBe(first);
  expect(day(weeks.at(-1)?.[6] ?? 0)).toBe(last);
  expect(weeks.flat()).toContain(dayOf(at(text)));
});

test.each([
  ['2026-01-31T12:30', 1, '2026-02-28T12:30'],
  ['2026-01-15T00:00', -1, '2025-12-15T00:00'],
  ['2028-02-29T23:59', 12, '2029-02-28T23:59'],
])('%s and %i months', (text, months, want) =>
  expect(monthsLater(at(text), months)).toBe(at(want)),
);

test.each([
  ['ArrowRight', false, '2026-11-28'],
  ['ArrowUp', false, '2026-11-20'],
  ['Home', false, '2026-11-23'],
  ['End', false, '2026-11-29'],
  ['PageDown', false, '2026-12-27'],
  ['PageUp', true, '2025-11-27'],
])('%s (shift %o) leads to %s', (key, isShift, want) =>
  expect(day(dayByKey(at('2026-11-27T03:00'), key, isShift) ?? 0)).toBe(want),
);

test('other keys lead nowhere', () => expect(dayByKey(0, 'a', false)).toBeNull());
