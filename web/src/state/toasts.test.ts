import { expect, test } from 'vitest';
import type { Entry } from './log';
import { inSight, noticesOf } from './toasts';

const entry = (id: number, at: number, more: Partial<Entry> = {}): Entry => ({
  id,
  at,
  kind: 'done',
  text: `entry ${id}`,
  ...more,
});
const undo = { label: 'Undo', onChoose: () => {}, seconds: 60 };
const minor = { ...undo, minor: true };
const handled = (closed: number[] = [], taken: [number, number][] = []) => ({
  closed: new Set(closed),
  taken: new Map(taken),
});
const ids = (entries: Entry[], closed: number[], nowMs: number) =>
  inSight(noticesOf(entries, handled(closed), nowMs)).shown.map(({ head }) => head.id);

test('an outcome is shown for five seconds, one with an action for as long as that is offered', () => {
  const entries = [entry(1, 0), entry(2, 0, { action: undo })];
  expect(ids(entries, [], 4999)).toEqual([1, 2]);
  expect(ids(entries, [], 5000)).toEqual([2]);
  expect(ids(entries, [], 59_999)).toEqual([2]);
  expect(ids(entries, [], 60_000)).toEqual([]);
});

test('requests, notes and failures are for the console', () => {
  const kinds = ['request', 'note', 'failed'] as const;
  const entries = kinds.map((kind, id) => entry(id, 0, { kind }));
  expect(ids(entries, [], 1)).toEqual([]);
});

test('a failure that warns is shown for twelve seconds', () => {
  const entries = [entry(1, 0, { kind: 'failed', warns: true })];
  expect(ids(entries, [], 11_999)).toEqual([1]);
  expect(ids(entries, [], 12_000)).toEqual([]);
});

test('three are in sight: the newest, then what can be undone, most of all what matters', () => {
  const plain = [1, 2, 3, 4].map((id) => entry(id, 0));
  expect(ids(plain, [], 1)).toEqual([2, 3, 4]);
  const entries = [
    entry(1, 0, { action: undo }),
    entry(2, 0, { action: minor }),
    ...plain.slice(2),
  ];
  expect(ids(entries, [], 1)).toEqual([1, 2, 4]);
  expect(ids(entries, [4], 1)).toEqual([1, 2, 3]);
});

test('what can be undone and is not in sight stands behind', () => {
  const entries = [1, 2, 3, 4, 5].map((id) => entry(id, 0, id === 2 ? {} : { action: undo }));
  const { shown, behind } = inSight(noticesOf(entries, handled(), 1));
  expect(shown.map(({ head }) => head.id)).toEqual([3, 4, 5]);
  expect(behind.map(({ head }) => head.id)).toEqual([1]);
});

test('a newer one takes the place of the older of its topic, whose undo stays behind it', () => {
  const topic = 'edit';
  const entries = [
    entry(1, 0, { topic, action: undo }),
    entry(2, 0, { topic }),
    entry(3, 0),
    entry(4, 0, { topic, action: undo }),
    entry(5, 0, { topic, action: undo }),
  ];
  const seen = (closed: number[], taken: [number, number][], nowMs: number) =>
    noticesOf(entries, handled(closed, taken), nowMs).map(({ head, isOffered, earlier }) => [
      head.id,
      isOffered,
      earlier.map(({ id }) => id),
    ]);
  expect(seen([], [], 1)).toEqual([
    [3, false, []],
    [5, true, [4, 1]],
  ]);
  // An undone entry stays a little longer without its action.
  expect(seen([], [[5, 0]], 4999)).toEqual([
    [3, false, []],
    [5, false, [4, 1]],
  ]);
  expect(seen([], [[5, 0]], 5000)).toEqual([[4, true, [1]]]);
  expect(seen([], [[4, 0]], 5000)).toEqual([[5, true, [1]]]);
});

test('a notice is closed with all that stands behind it', () => {
  const entries = [entry(1, 0, { topic: 'edit' }), entry(2, 0, { topic: 'edit', action: undo })];
  const closed = noticesOf(entries, handled(), 1).flatMap(({ ids }) => ids);
  expect(noticesOf(entries, handled(closed), 1)).toEqual([]);
});
