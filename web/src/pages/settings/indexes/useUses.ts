// Loads usage counts of each index and the total size, if the server reports them.
import { useCallback, useEffect, useState } from 'react';
import { type Document, numberOf, open, run } from '../../../api/mongo';
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

/** Reloads when `indexes` changes; null: not reported, or not permitted. */
function useAsked<T>(ask: () => Promise<T>, indexes: readonly unknown[]): T | null {
  const [found, set] = useState<T | null>(null);
  useEffect(() => {
    let over = indexes.length === 0;
    // Missing privileges are not an error here.
    ask().then(
      (known) => !over && set(known),
      () => !over && set(null),
    );
    return () => {
      over = true;
    };
  }, [ask, indexes]);
  return found;
}

const ASIDE = { quiet: true, aside: true };

/** Returns usage counts by index name. */
export function useUses({ database, collection }: Target, indexes: readonly unknown[]) {
  const ask = useCallback(async () => {
    const pipeline = [{ $indexStats: {} }];
    const command = { aggregate: collection, pipeline, cursor: { batchSize: 1000 } };
    return usesOf((await open(database, command, ASIDE)).documents);
  }, [database, collection]);
  return useAsked(ask, indexes);
}

/** Returns the size of all indexes in bytes: the store keeps them in one tree. */
export function useIndexBytes({ database, collection }: Target, indexes: readonly unknown[]) {
  const ask = useCallback(async () => {
    const { totalIndexSize } = await run(database, { collStats: collection }, ASIDE);
    return numberOf(totalIndexSize ?? 0);
  }, [database, collection]);
  return useAsked(ask, indexes);
}
