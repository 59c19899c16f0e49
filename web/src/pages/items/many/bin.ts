// Soft-deleted items by collection, hidden from lists until they expire. Kept in session storage,
// so a reload does not show them again.
import { useEffect, useMemo } from 'react';
import type { Target } from '../../../state/place';
import { useNow } from '../../../state/server';
import { createStore, useStore } from '../../../state/store';
import { keptSeconds, MOST_KEPT } from './many';

/** Keys of items with their deadlines in ms. */
type Binned = ReadonlyMap<string, number>;

const NONE: Binned = new Map();
const STORED = 'ebb-bin';
/** Above this they are kept in memory only: session storage is small. */
const MOST_STORED = 5000;

/** Seconds by which a deadline may exceed the requested one. */
const SLACK = 2;

const isEntry = (value: unknown): value is [string, number] =>
  Array.isArray(value) && typeof value[0] === 'string' && typeof value[1] === 'number';

/** Reads the hidden items from session storage. */
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
    // Storage is full or forbidden: it holds until the page is left.
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

export function useBin(target: Target): Binned {
  return useStore(bins).get(nameOf(target)) ?? NONE;
}

/** Returns the seconds until the last hidden item expires; then nothing is hidden any more. */
export function useTimeLeft(target: Target): number {
  const keys = useBin(target);
  const now = useNow();
  const last = useMemo(() => [...keys.values()].reduce((a, b) => Math.max(a, b), 0), [keys]);
  const name = nameOf(target);
  // A deadline beyond the longest undo time stems from another server at this address.
  const isForeign = now !== null && last > now + (keptSeconds(MOST_KEPT) + SLACK) * 1000;
  const isOver = keys.size > 0 && now !== null && (last <= now || isForeign);
  useEffect(() => {
    // Items that have been written again since are listed again.
    if (isOver) bins.update((all) => new Map(all).set(name, NONE));
  }, [isOver, name]);
  return Math.max(0, Math.ceil((last - (now ?? last)) / 1000));
}
