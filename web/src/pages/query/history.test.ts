import { expect, test } from 'vitest';
import { isHistory, type Outcome, type Past, remember, settled } from './history';

const past = (text: string, at = 0, place = 'a › b'): Past => ({ at, place, texts: { text } });

test('the newest stands first, once', () => {
  const history = [past('x', 1), past('y', 2)].reduce(remember, []);
  expect(remember(history, past('x', 3))).toEqual([past('x', 3), past('y', 2)]);
  expect(remember(history, past('x', 3, 'c › d'))).toHaveLength(3);
});

const done: Outcome = { kind: 'done', rows: 1, more: false, ms: 1 };
const failed: Outcome = { kind: 'failed', error: 'no', ms: 1 };

/** Returns the history after a completed run. */
const ran = (history: readonly Past[], run: Past, outcome: Outcome) =>
  settled(remember(history, run), run, outcome);

test('what came of a run is kept with it', () => {
  const history = ran([], past('x', 1), done);
  expect(history).toEqual([{ ...past('x', 1), outcome: done }]);
  expect(isHistory(history)).toBe(true);
  // The entry has been removed since.
  expect(settled([], past('x', 1), done)).toEqual([]);
});

test('a success takes the place of the success before, and of no failure', () => {
  const history = [failed, done].reduce(
    (all, one, at) => ran(all, past('x', at), one),
    [] as Past[],
  );
  const kinds = (all: Past[]) => all.map(({ at, outcome }) => [at, outcome?.kind]);
  expect(kinds(history)).toEqual([
    [1, 'done'],
    [0, 'failed'],
  ]);
  expect(kinds(ran(history, past('x', 2), done))).toEqual([
    [2, 'done'],
    [0, 'failed'],
  ]);
  expect(kinds(remember(history, past('x', 2)))).toHaveLength(3);
});

test('fifty are kept, and no long ones', () => {
  const many = Array.from({ length: 60 }, (_, at) => past(String(at))).reduce(remember, []);
  expect(many).toHaveLength(50);
  expect(many[0]).toEqual(past('59'));
  expect(remember([], past('x'.repeat(20_001)))).toEqual([]);
});

test.each([
  [[], true],
  [[past('x')], true],
  [[{ ...past('x'), outcome: failed }], true],
  [[{ ...past('x'), outcome: { kind: 'failed' } }], false],
  [[{ at: 1, place: 'a' }], false],
  [[{ at: 1, place: 'a', texts: { text: 1 } }], false],
  [{}, false],
  [null, false],
])('%j is a history: %s', (value, want) => expect(isHistory(value)).toBe(want));
