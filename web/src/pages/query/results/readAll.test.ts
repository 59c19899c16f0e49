import { expect, test } from 'vitest';
import type { ResultPage, Run } from '../run';
import { MONGO_FORM } from './form';
import { readAll } from './readAll';

const page = (rows: number, more: boolean): ResultPage => ({
  text: 'x'.repeat(rows * 10),
  results: {
    form: MONGO_FORM,
    rows: Array.from({ length: rows }, (_, n) => ({ n })),
    plain: Array.from({ length: rows }, (_, n) => ({ n })),
    keys: Array.from({ length: rows }, () => null),
  },
  roundTripMs: 1,
  ranAtMs: null,
  more,
});

/** A run with these pages that records its use. */
function runOf(pages: (ResultPage | Error)[]) {
  const seen = { asked: 0, ended: 0 };
  const run: Run = {
    next: () => {
      const next = pages[seen.asked];
      seen.asked += 1;
      return next instanceof Error || next === undefined
        ? Promise.reject(next ?? new Error('no more pages'))
        : Promise.resolve(next);
    },
    statistics: () => Promise.reject(new Error('not asked')),
    explain: () => Promise.reject(new Error('not asked')),
    explainsFreely: false,
    end: () => {
      seen.ended += 1;
    },
  };
  return { run, seen };
}

const never = new AbortController().signal;

test('all pages are read to the last, and the run is ended', async () => {
  const { run, seen } = runOf([page(3, true), page(3, true), page(1, false)]);
  const told: number[] = [];
  const all = await readAll(run, never, (rows) => told.push(rows));
  expect(all?.rows).toHaveLength(7);
  expect(told).toEqual([3, 6, 7]);
  expect(seen).toEqual({ asked: 3, ended: 1 });
});

test.each([
  ['results', { rows: 5, characters: 1000 }],
  ['characters', { rows: 1000, characters: 50 }],
])('too many %s are refused, and nothing more is read', async (_, bound) => {
  const { run, seen } = runOf([page(3, true), page(3, true), page(1, false)]);
  await expect(readAll(run, never, () => {}, bound)).rejects.toThrow(/ebb export/);
  expect(seen).toEqual({ asked: 2, ended: 1 });
});

test('exactly as many as the bound are read', async () => {
  const { run } = runOf([page(3, true), page(2, false)]);
  const bound = { rows: 5, characters: 50 };
  expect((await readAll(run, never, () => {}, bound))?.rows).toHaveLength(5);
});

test('a failure and a stop end the run', async () => {
  const failing = runOf([page(3, true), new Error('away')]);
  await expect(readAll(failing.run, never, () => {})).rejects.toThrow('away');
  expect(failing.seen.ended).toBe(1);
  const stopped = runOf([page(3, true), page(3, false)]);
  await expect(readAll(stopped.run, AbortSignal.abort(), () => {})).rejects.toThrow();
  expect(stopped.seen).toEqual({ asked: 1, ended: 1 });
});
