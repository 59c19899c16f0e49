// Counts of the collections in open databases, polled and refreshed after each write. Databases
// with very many collections are skipped: each costs the server a count.
import { useEffect, useMemo } from 'react';
import { type CollectionFacts, collectionsOf } from '../../api/admin';
import { usePolled } from '../../state/polled';
import { loadCollections, tree } from '../../state/tree';
import { type Row, rowKey } from './rows';

const AGAIN_MS = 15_000;
const MOST_COLLECTIONS = 100;
const MOST_DATABASES = 20;

/** Returns the open databases that are small enough. */
function askedOf(rows: readonly Row[]): string[] {
  const sizes = new Map<string, number>();
  for (const row of rows) {
    if (row.kind !== 'collection') continue;
    sizes.set(row.database, (sizes.get(row.database) ?? 0) + 1);
  }
  const small = [...sizes].filter(([, size]) => size <= MOST_COLLECTIONS);
  return small.slice(0, MOST_DATABASES).map(([name]) => name);
}

/** Reloads databases in which other clients have created or dropped collections. */
function reloadOthers(names: readonly string[], facts: readonly CollectionFacts[]): void {
  for (const { door, name, collections } of tree.get().branches) {
    if (collections === null || !names.includes(name)) continue;
    const there = facts.filter(({ api, database }) => api === door && database === name);
    const isSame =
      there.length === collections.length &&
      there.every(({ collection }) => collections.includes(collection));
    if (!isSame) void loadCollections(door, name);
  }
}

const NONE: readonly CollectionFacts[] = [];

/** Returns the counts by row key. */
export function useFacts(rows: readonly Row[]): ReadonlyMap<string, CollectionFacts> {
  const names = useMemo(() => askedOf(rows), [rows]);
  const { value: asked, again } = usePolled(async () => {
    const facts = (await Promise.all(names.map(collectionsOf))).flat();
    return { names, facts };
  }, AGAIN_MS);
  const value = asked?.facts;
  useEffect(() => {
    if (asked !== null) reloadOthers(asked.names, asked.facts);
  }, [asked]);
  const key = names.join('\n');
  useEffect(again, [key, again]);
  return useMemo(
    () =>
      new Map(
        (value ?? NONE).map((facts) => {
          const { api: door, database, collection: name } = facts;
          return [rowKey({ kind: 'collection', door, database, name, at: 0, of: 0 }), facts];
        }),
      ),
    [value],
  );
}
