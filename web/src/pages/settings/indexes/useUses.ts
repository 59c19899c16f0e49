// How often each index was used, where the server counts that.
import { useEffect, useState } from 'react';
import { type Document, numberOf, open } from '../../../api/mongo';
import type { Target } from '../../../state/place';

export interface Uses {
  count: number;
  sinceMs: number | null;
}

export function usesOf(documents: readonly Document[]): ReadonlyMap<string, Uses> {
  return new Map(
    documents.map(({ name, accesses }) => {
      const { ops, since } = (accesses ?? {}) as { ops?: unknown; since?: unknown };
      const sinceMs = since instanceof Date ? since.getTime() : null;
      return [String(name), { count: numberOf(ops ?? 0), sinceMs }];
    }),
  );
}

/** By the names of indexes, read again with `indexes`; null: the server does not say, or not to this person. */
export function useUses(
  { database, collection }: Target,
  indexes: readonly unknown[],
): ReadonlyMap<string, Uses> | null {
  const [uses, setUses] = useState<ReadonlyMap<string, Uses> | null>(null);
  useEffect(() => {
    const pipeline = [{ $indexStats: {} }];
    const command = { aggregate: collection, pipeline, cursor: { batchSize: 1000 } };
    let over = indexes.length === 0;
    // Who may not ask hears so, which is nobody's failure.
    open(database, command, { quiet: true, aside: true }).then(
      ({ documents }) => !over && setUses(usesOf(documents)),
      () => !over && setUses(null),
    );
    return () => {
      over = true;
    };
  }, [database, collection, indexes]);
  return uses;
}
