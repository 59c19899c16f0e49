// Counts the documents that a TTL index would expire immediately: debounced after each change, and
// again before saving. A new request cancels the previous one.
import { useCallback, useEffect, useRef, useState } from 'react';
import { words } from '../../../api/http';
import { type Document, numberOf, run } from '../../../api/mongo';
import type { Target } from '../../../state/place';
import { useRequest } from '../../../state/request';
import { databaseNow, useServerChanges } from '../../../state/server';

export type Due =
  | { kind: 'none' }
  | { kind: 'asking' }
  | { kind: 'known'; documents: number }
  | { kind: 'failed'; text: string };

/** A TTL rule: a date field, the time after the date, and a filter. */
export interface Rule {
  field: string;
  seconds: number;
  /** The partial filter of the index; null: all documents. */
  filter: Document | null;
}

const PAUSE_MS = 300;

/** Returns the query for due documents. `$lte` also matches an array by its earliest date. */
export function dueQuery({ field, seconds, filter }: Rule, nowMs: number): Document {
  const due = { [field]: { $lte: new Date(nowMs - seconds * 1000) } };
  return filter === null ? due : { $and: [filter, due] };
}

async function count({ database, collection }: Target, rule: Rule): Promise<Due> {
  try {
    const query = dueQuery(rule, databaseNow() ?? 0);
    const { n } = await run(database, { count: collection, query });
    return { kind: 'known', documents: numberOf(n) };
  } catch (error) {
    return { kind: 'failed', text: words(error) };
  }
}

/** Returns the count for a rule (null: none yet) and a function that counts again. */
export function useDue(target: Target, rule: Rule | null): [Due, () => Promise<Due>] {
  const changes = useServerChanges();
  const [due, set] = useState<Due>({ kind: 'none' });
  const { send, cancel } = useRequest();
  const key = JSON.stringify([target, rule]);
  const counted = useRef('');
  // biome-ignore lint/correctness/useExhaustiveDependencies: a rule is identified by its JSON.
  useEffect(() => {
    const isSame = counted.current === key;
    counted.current = key;
    if (rule === null) {
      set({ kind: 'none' });
      return;
    }
    // After a move of the clock the count of the same rule is shown until the new one arrives:
    // without a count the save button is disabled, and a click at that moment would be lost. A save
    // counts again in any case.
    if (!isSame) set({ kind: 'asking' });
    // The count also resolves on failure.
    const ask = () =>
      send(
        () => count(target, rule),
        set,
        () => {},
      );
    const timer = setTimeout(() => void ask(), PAUSE_MS);
    return () => {
      clearTimeout(timer);
      cancel();
    };
  }, [key, changes, send, cancel]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: as above.
  const again = useCallback(async () => {
    if (rule === null) return { kind: 'none' } as const;
    const found = await count(target, rule);
    set(found);
    return found;
  }, [key]);
  return [due, again];
}

/**
 * Returns whether the confirmed number covers the current one. Time passes while a dialog is open,
 * so up to twice as many may expire, but none if none was confirmed.
 */
export function covers(told: Due, now: Due): boolean {
  if (now.kind === 'failed' || told.kind === 'failed') return told.kind === 'failed';
  if (told.kind !== 'known' || now.kind !== 'known') return false;
  return now.documents <= 2 * told.documents;
}
