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

/** By the names of indexes; null: the server does not say. */
export function useUses({ database, collection }: Target): ReadonlyMap<string, Uses> | null {
  const [uses, setUses] = useState<ReadonlyMap<string, Uses> | null>(null);
  useEffect(() => {
    const pipeline = [{ $indexStats: {} }];
    const command = { aggregate: collection, pipeline, cursor: { batchSize: 1000 } };
    // A server that does not know the stage says so, which is nobody's failure.
    open(database, command, { aside: true }).then(
      ({ documents }) => setUses(usesOf(documents)),
      () => setUses(null),
    );
  }, [database, collection]);
  return uses;
}
