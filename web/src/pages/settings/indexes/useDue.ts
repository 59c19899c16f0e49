// Counts the documents that a TTL index would expire immediately: debounced after each change, and
// again before saving. A new request cancels the previous one.
import { useCallback } from 'react';
import { words } from '../../../api/http';
import { type Document, numberOf, run } from '../../../api/mongo';
import type { Target } from '../../../state/place';
import { useRenewed } from '../../../state/renewed';
import { databaseNow } from '../../../state/server';

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
  const key = rule === null ? null : JSON.stringify([target, rule]);
  const ask = (): Promise<Due> =>
    rule === null ? Promise.resolve({ kind: 'none' }) : count(target, rule);
  const [due, set] = useRenewed(key, ask);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a rule is identified by its JSON.
  const again = useCallback(async () => {
    const found = await ask();
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
