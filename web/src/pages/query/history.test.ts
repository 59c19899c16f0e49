import { expect, test } from 'vitest';
import { isHistory, type Past, remember } from './history';

const past = (text: string, at = 0, place = 'a › b'): Past => ({ at, place, texts: { text } });

test('the newest stands first, once', () => {
  const history = [past('x', 1), past('y', 2)].reduce(remember, []);
  expect(remember(history, past('x', 3))).toEqual([past('x', 3), past('y', 2)]);
  expect(remember(history, past('x', 3, 'c › d'))).toHaveLength(3);
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
  [[{ at: 1, place: 'a' }], false],
  [[{ at: 1, place: 'a', texts: { text: 1 } }], false],
  [{}, false],
  [null, false],
])('%j is a history: %s', (value, want) => expect(isHistory(value)).toBe(want));
