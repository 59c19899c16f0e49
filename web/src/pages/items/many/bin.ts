// What was deleted and can still be put back: hidden from lists until it expires, by collection.
import { useEffect, useMemo } from 'react';
import type { Target } from '../../../state/place';
import { useNow } from '../../../state/server';
import { createStore, useStore } from '../../../state/store';

/** Keys of items and the instants at which they expire, ms. */
type Binned = ReadonlyMap<string, number>;

const NONE: Binned = new Map();
const bins = createStore<ReadonlyMap<string, Binned>>(new Map());

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
  const now = useNow() ?? 0;
  const last = useMemo(() => [...keys.values()].reduce((a, b) => Math.max(a, b), 0), [keys]);
  const name = nameOf(target);
  const isOver = keys.size > 0 && last <= now;
  useEffect(() => {
    // Those that were written again meanwhile are listed again.
    if (isOver) bins.update((all) => new Map(all).set(name, NONE));
  }, [isOver, name]);
  return Math.max(0, Math.ceil((last - now) / 1000));
}
