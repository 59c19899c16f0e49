import { expect, test } from 'vitest';
import type { Entry } from './log';
import { shownToasts } from './toasts';

const entry = (id: number, at: number, more: Partial<Entry> = {}): Entry => ({
  id,
  at,
  kind: 'done',
  text: `entry ${id}`,
  ...more,
});
const undo = { label: 'Undo', onChoose: () => {}, seconds: 60 };
const ids = (entries: Entry[], closed: number[], nowMs: number) =>
  shownToasts(entries, new Set(closed), nowMs).map(({ id }) => id);

test('an outcome is shown for five seconds, one with an action for as long as that is offered', () => {
  const entries = [entry(1, 0), entry(2, 0, { action: undo })];
  expect(ids(entries, [], 4999)).toEqual([1, 2]);
  expect(ids(entries, [], 5000)).toEqual([2]);
  expect(ids(entries, [], 59_999)).toEqual([2]);
  expect(ids(entries, [], 60_000)).toEqual([]);
});

test('requests, notes and failures are for the console', () => {
  const kinds = ['request', 'note', 'failed'] as const;
  expect(
    ids(
      kinds.map((kind, id) => entry(id, 0, { kind })),
      [],
      1,
    ),
  ).toEqual([]);
});

test('a failure that warns is shown for twelve seconds', () => {
  const entries = [entry(1, 0, { kind: 'failed', warns: true })];
  expect(ids(entries, [], 11_999)).toEqual([1]);
  expect(ids(entries, [], 12_000)).toEqual([]);
});

test('of what can be undone in passing the newest three are shown', () => {
  const action = { ...undo, minor: true };
  const entries = [1, 2, 3, 4].map((id) => entry(id, 0, { action }));
  expect(ids(entries, [], 1)).toEqual([2, 3, 4]);
});

test('the newest three are shown, and what can be undone', () => {
  const entries = [
    entry(1, 0, { action: undo }),
    entry(2, 0),
    entry(3, 0),
    entry(4, 0),
    entry(5, 0),
  ];
  expect(ids(entries, [], 1)).toEqual([1, 3, 4, 5]);
  expect(ids(entries, [4], 1)).toEqual([1, 2, 3, 5]);
});
