import { expect, test } from 'vitest';
import { ApiError, type FailureKind } from '../../api/http';
import { isBack, type Lost, lostOf, lostWords } from './lost';

const HERE = { silentSince: null, readAt: 10 };
const AWAY = { silentSince: 1, readAt: 10 };
const failure = (kind: FailureKind, status = 0) => new ApiError(kind, status, 'x', 'x');
const LOST: Lost = { asked: 'save', stopped: false, at: 20 };

test.each([
  ['unreachable', failure('network'), HERE, { ...LOST }],
  ['too late', failure('timeout'), HERE, { ...LOST }],
  ['stopped', failure('cancelled'), HERE, { ...LOST, stopped: true }],
  ['being opened', failure('refused', 503), AWAY, { ...LOST }],
  ['full', failure('refused', 503), HERE, null],
  ['refused', failure('refused', 400), AWAY, null],
  ['not sent', new Error('x'), AWAY, null],
])('%s: what is lost', (_, error, reached, want) =>
  expect(lostOf(error, 'save', reached, 20)).toEqual(want),
);

test('the server is back with its first answer after the loss', () => {
  expect(isBack(LOST, HERE)).toBe(false);
  expect(isBack(LOST, { silentSince: 1, readAt: 21 })).toBe(false);
  expect(isBack(LOST, { silentSince: null, readAt: 21 })).toBe(true);
});

test('it is said what to do when the server is back, and before that what is known', () => {
  expect(lostWords(LOST, true)).toBe('The server is back: save again.');
  expect(lostWords({ ...LOST, asked: 'change' }, true)).toBe('The server is back: try again.');
  expect(lostWords(LOST, false)).toContain('Your text is kept.');
  expect(lostWords({ ...LOST, stopped: true }, false)).toContain(
    'may or may not have been applied',
  );
});
