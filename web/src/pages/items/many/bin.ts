// What was deleted and still lives: hidden from lists until it expires, by collection. It outlives a reload
// of the page, in the browser's session.
import { useEffect, useMemo } from 'react';
import type { Target } from '../../../state/place';
import { useNow } from '../../../state/server';
import { createStore, useStore } from '../../../state/store';
import { keptSeconds, MOST_KEPT } from './many';

/** Keys of items and the instants at which they expire, ms. */
type Binned = ReadonlyMap<string, number>;

const NONE: Binned = new Map();
const STORED = 'ebb-bin';
/** More are only kept in memory: the browser's store is small. */
const MOST_STORED = 5000;

/** Seconds by which an instant may lie later than it was asked for. */
const SLACK = 2;

const isEntry = (value: unknown): value is [string, number] =>
  Array.isArray(value) && typeof value[0] === 'string' && typeof value[1] === 'number';

/** What an earlier page has left in the session. */
function stored(): ReadonlyMap<string, Binned> {
  try {
    const all: unknown = JSON.parse(sessionStorage.getItem(STORED) ?? '{}');
    return new Map(
      Object.entries(all as object).map(([name, keys]) => [
        name,
        new Map((keys as unknown[]).filter(isEntry)),
      ]),
    );
  } catch {
    return new Map();
  }
}

function store(all: ReadonlyMap<string, Binned>): void {
  const some = [...all].filter(([, keys]) => keys.size > 0);
  const size = some.reduce((sum, [, keys]) => sum + keys.size, 0);
  try {
    if (size === 0 || size > MOST_STORED) sessionStorage.removeItem(STORED);
    else
      sessionStorage.setItem(
        STORED,
        JSON.stringify(Object.fromEntries(some.map(([name, keys]) => [name, [...keys]]))),
      );
  } catch {
    // Full or forbidden: it holds until the page is left.
  }
}

const bins = createStore(stored());
bins.subscribe(() => store(bins.get()));

const nameOf = ({ door, database, collection }: Target) =>
  JSON.stringify([door, database, collection]);

function put(target: Target, make: (known: Binned) => Binned): void {
  const name = nameOf(target);
  bins.update((all) => new Map(all).set(name, make(all.get(name) ?? NONE)));
}

export function hide(target: Target, items: Iterable<readonly [string, number]>): void {
  put(target, (known) => new Map([...known, ...items]));
}

export function unhide(target: Target, keys: ReadonlySet<string>): void {
  put(target, (known) => new Map([...known].filter(([key]) => !keys.has(key))));
}

export function binned(target: Target): Binned {
  return bins.get().get(nameOf(target)) ?? NONE;
}

/** What is hidden now. */
export function useBin(target: Target): Binned {
  return useStore(bins).get(nameOf(target)) ?? NONE;
}

/** Seconds until the last of what is hidden expires; nothing is hidden any more then. */
export function useTimeLeft(target: Target): number {
  const keys = useBin(target);
  const now = useNow();
  const last = useMemo(() => [...keys.values()].reduce((a, b) => Math.max(a, b), 0), [keys]);
  const name = nameOf(target);
  // Nothing is hidden for longer than a deletion is kept: that is of a server that was here before.
  const isForeign = now !== null && last > now + (keptSeconds(MOST_KEPT) + SLACK) * 1000;
  const isOver = keys.size > 0 && now !== null && (last <= now || isForeign);
  useEffect(() => {
    // Those that were written again meanwhile are listed again.
    if (isOver) bins.update((all) => new Map(all).set(name, NONE));
  }, [isOver, name]);
  return Math.max(0, Math.ceil((last - (now ?? last)) / 1000));
}
