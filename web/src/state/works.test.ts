import { expect, test } from 'vitest';
import { beginWork, works } from './works';

const shown = () => works.get().map(({ text, done, of }) => `${text}: ${done} of ${of}`);

test('works are shown from their beginning to their end, each by itself', () => {
  const first = beginWork('first', 600);
  const second = beginWork('second', 2);
  first.reach(100);
  expect(shown()).toEqual(['first: 100 of 600', 'second: 0 of 2']);
  first.end();
  // Progress after the end is ignored.
  first.reach(200);
  expect(shown()).toEqual(['second: 0 of 2']);
  second.end();
  expect(shown()).toEqual([]);
});
