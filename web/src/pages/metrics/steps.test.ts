import { expect, test } from 'vitest';
import { anyDies, DAY, HOUR, stepName, stepSpan } from './steps';

const now_ms = 1_795_317_596_000;

test.each([
  [0, HOUR, 'within 1 hour'],
  [1, HOUR, 'in 1 to 2 hours'],
  [23, HOUR, 'in 23 to 24 hours'],
  [0, DAY, 'within 1 day'],
  [29, DAY, 'in 29 to 30 days'],
])('step %i of %o is %s', (at, unit, want) =>
  expect(stepName({ step_seconds: unit.seconds }, at, unit)).toBe(want),
);

test.each([
  [3600, 0, '2026-11-22 03:19:56 to 04:19:56 UTC'],
  [3600, 20, '2026-11-22 23:19:56 to 2026-11-23 00:19:56 UTC'],
  [86_400, 1, '2026-11-23 03:19:56 to 2026-11-24 03:19:56 UTC'],
])('steps of %i s: %i goes from %s', (step_seconds, at, want) =>
  expect(stepSpan({ now_ms, step_seconds }, at)).toBe(want),
);

test('nothing dies where all steps are empty', () => {
  expect(anyDies({ steps: [{ documents: 0, bytes: 0 }] })).toBe(false);
  expect(
    anyDies({
      steps: [
        { documents: 0, bytes: 0 },
        { documents: 1, bytes: 9 },
      ],
    }),
  ).toBe(true);
});
