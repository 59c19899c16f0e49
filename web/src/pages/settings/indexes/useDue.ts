// How many documents a date TTL index would make expire at once, asked of the server a moment after the
// last change, and once more when it is to be saved; an earlier question is cancelled.
import { useCallback, useEffect, useState } from 'react';
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

/** A field of dates, how long after one a document expires, and which documents are meant. */
export interface Rule {
  field: string;
  seconds: number;
  /** The partial filter of the index; null: all. */
  filter: Document | null;
}

const PAUSE_MS = 300;

/** Those whose date lies so far back. An array of dates counts by its earliest, which `$lte` finds. */
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

/** Asks for what a rule would do; null: there is none yet. The second asks once more, and answers that. */
export function useDue(target: Target, rule: Rule | null): [Due, () => Promise<Due>] {
  const changes = useServerChanges();
  const [due, set] = useState<Due>({ kind: 'none' });
  const { send, cancel } = useRequest();
  const key = JSON.stringify([target, rule]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a rule is what its text says.
  useEffect(() => {
    if (rule === null) {
      set({ kind: 'none' });
      return;
    }
    set({ kind: 'asking' });
    // Counting answers a failure, too.
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
 * Whether what a person has agreed to covers what was counted when it came to be saved. Time goes on
 * while a dialog is open, so that a few more may have expired than were told, but none where none was.
 */
export function covers(told: Due, now: Due): boolean {
  if (now.kind === 'failed' || told.kind === 'failed') return told.kind === 'failed';
  if (told.kind !== 'known' || now.kind !== 'known') return false;
  return now.documents <= 2 * told.documents;
}
