// What collections of open databases hold, asked for in a while and after every own act. Databases with very
// many collections are not asked: each of them costs the server a count.
import { useEffect, useMemo } from 'react';
import { type CollectionFacts, collectionsOf } from '../../api/admin';
import { usePolled } from '../../state/polled';
import { type Row, rowKey } from './rows';

const AGAIN_MS = 15_000;
const MOST_COLLECTIONS = 100;
const MOST_DATABASES = 20;

/** Names of open databases that are not too large. */
function askedOf(rows: readonly Row[]): string[] {
  const sizes = new Map<string, number>();
  for (const row of rows) {
    if (row.kind !== 'collection') continue;
    sizes.set(row.database, (sizes.get(row.database) ?? 0) + 1);
  }
  const small = [...sizes].filter(([, size]) => size <= MOST_COLLECTIONS);
  return small.slice(0, MOST_DATABASES).map(([name]) => name);
}

const NONE: readonly CollectionFacts[] = [];

/** By the keys of rows. */
export function useFacts(rows: readonly Row[]): ReadonlyMap<string, CollectionFacts> {
  const names = useMemo(() => askedOf(rows), [rows]);
  const { value, again } = usePolled(
    async () => (await Promise.all(names.map(collectionsOf))).flat(),
    AGAIN_MS,
  );
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
