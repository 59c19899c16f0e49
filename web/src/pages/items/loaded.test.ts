import { expect, test } from 'vitest';
import { boundWords, type Loaded, loadedWords } from './loaded';

const all: Loaded = {
  noun: 'item',
  rows: 100,
  filtered: false,
  open: true,
  live: 4499,
  matching: null,
  ready: true,
};

test.each<[Partial<Loaded>, string]>([
  [{}, '100 items loaded, 4,499 live'],
  [{ live: null }, '100 items loaded'],
  [{ open: false, rows: 1, live: 1 }, '1 item loaded, 1 live'],
  [{ filtered: true }, '100 items loaded, more may match'],
  [{ filtered: true, matching: 1234 }, '100 items loaded, 1,234 match'],
  [{ filtered: true, open: false, rows: 3, matching: 4 }, '3 items match'],
  [{ filtered: true, open: false, rows: 3 }, '3 items match'],
  [{ filtered: true, open: false, rows: 1 }, '1 item matches'],
  [{ filtered: true, open: false, rows: 0 }, '0 items match'],
  [{ filtered: true, ready: false, rows: 0, open: false }, '0 items loaded'],
])('%o', (change, want) => expect(loadedWords({ ...all, ...change })).toBe(want));

test.each<[Partial<Loaded>, boolean]>([
  [{}, false],
  [{ rows: 1000 }, true],
  [{ rows: 1000, open: false }, false],
  [{ rows: 1000, live: 1000 }, false],
  [{ rows: 1000, live: null }, true],
  [{ rows: 1000, live: 1000, filtered: true }, true],
])('a bound of 1000 with %o', (change, isSaid) => {
  expect(boundWords({ ...all, ...change }, 1000) !== null).toBe(isSaid);
});
