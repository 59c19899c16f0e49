// How many documents a date TTL index would make expire at once, asked of the server a moment after the
// last change; an earlier question is cancelled.
import { useEffect, useState } from 'react';
import { words } from '../../../api/http';
import { type Document, numberOf, run } from '../../../api/mongo';
import type { Target } from '../../../state/place';
import { useRequest } from '../../../state/request';
import { databaseNow } from '../../../state/server';

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

/** Asks for what a rule would do; null: there is none yet. */
export function useDue({ database, collection }: Target, rule: Rule | null): Due {
  const [due, set] = useState<Due>({ kind: 'none' });
  const { send, cancel } = useRequest();
  const key = JSON.stringify(rule);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a rule is what its text says.
  useEffect(() => {
    if (rule === null) {
      set({ kind: 'none' });
      return;
    }
    set({ kind: 'asking' });
    const ask = () =>
      send(
        () => run(database, { count: collection, query: dueQuery(rule, databaseNow() ?? 0) }),
        ({ n }) => set({ kind: 'known', documents: numberOf(n) }),
        (error) => set({ kind: 'failed', text: words(error) }),
      );
    const timer = setTimeout(() => void ask(), PAUSE_MS);
    return () => {
      clearTimeout(timer);
      cancel();
    };
  }, [database, collection, key, send, cancel]);
  return due;
}
