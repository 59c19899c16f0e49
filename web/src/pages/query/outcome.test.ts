import { expect, test } from 'vitest';
import { ApiError } from '../../api/http';
import { isOutcome, type Outcome } from './history';
import { failureOutcome, outcomeWords, pageOutcome } from './outcome';
import type { ResultPage } from './run';

test('a page, a failure and a run that was given up', () => {
  const page = { results: { rows: [1, 2] }, more: true, roundTripMs: 3 } as unknown as ResultPage;
  expect(pageOutcome(page)).toEqual({ kind: 'done', rows: 2, more: true, ms: 3 });
  expect(failureOutcome(new ApiError('cancelled', 0, 'x', 'x'), 4)).toEqual({
    kind: 'cancelled',
    ms: 4,
  });
  expect(failureOutcome(new Error('first\nsecond'), 5)).toEqual({
    kind: 'failed',
    error: 'first',
    ms: 5,
  });
});

test('of the errors that come as JSON the first is kept, and of a long one its beginning', () => {
  const errors = { errors: [{ message: 'Syntax error', code: 'SC1001' }, { message: 'other' }] };
  const found = failureOutcome(new Error(`Message: ${JSON.stringify(errors)}`), 1);
  expect(found).toEqual({ kind: 'failed', error: 'Syntax error (SC1001)', ms: 1 });
  const long = failureOutcome(new Error('x'.repeat(1000)), 1);
  expect(long.kind === 'failed' && long.error.length).toBe(301);
});

test.each<[Outcome, string]>([
  [{ kind: 'done', rows: 1, more: false, ms: 2 }, '1 result in 2 ms'],
  [{ kind: 'done', rows: 100, more: true, ms: 2500 }, '100 results and more in 2.5 s'],
  [{ kind: 'failed', error: 'No.', ms: 3 }, 'Failed after 3 ms: No.'],
  [{ kind: 'cancelled', ms: 4 }, 'Cancelled after 4 ms'],
])('%j is said as %s', (outcome, want) => {
  expect(outcomeWords(outcome)).toBe(want);
  expect(isOutcome(JSON.parse(JSON.stringify(outcome)))).toBe(true);
});

test.each([
  null,
  {},
  { kind: 'done', rows: 1, ms: 1 },
  { kind: 'failed', ms: 1 },
  { kind: 'other', ms: 1 },
  { kind: 'cancelled' },
])('%j is no outcome', (value) => expect(isOutcome(value)).toBe(false));
