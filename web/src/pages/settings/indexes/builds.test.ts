import { Long } from 'bson';
import { expect, test } from 'vitest';
import { buildsOf, perCent } from './builds';

const command = (...names: string[]) => ({
  createIndexes: 'log',
  indexes: names.map((name) => ({ key: { n: 1 }, name })),
});
const msg = 'Index Build: scanning collection';

test('each index of an operation is as far as the operation says', () => {
  const progress = { done: Long.fromNumber(30), total: Long.fromNumber(90) };
  const builds = buildsOf([
    { command: command('a', 'b'), msg, progress },
    { command: command('c'), msg },
    { command: command('waits') },
  ]);
  expect([...builds]).toEqual([
    ['a', { done: 30, total: 90 }],
    ['b', { done: 30, total: 90 }],
    ['c', { done: 0, total: 0 }],
  ]);
});

test.each([
  [{ done: 0, total: 0 }, null],
  [{ done: 0, total: 7 }, 0],
  [{ done: 2, total: 3 }, 66],
  [{ done: 9, total: 9 }, 99],
  [{ done: 12, total: 9 }, 99],
])('%o is %s per cent', (build, wanted) => {
  expect(perCent(build)).toBe(wanted);
});
