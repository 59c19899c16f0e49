// The index on `_ts`, which is a MongoDB collection's default time to live, and the commands that
// give it another. Pure: the commands are run elsewhere.
import { Int32 } from 'bson';
import type { DefaultTtl } from '../../../api/admin';
import type { Document, IndexRecord } from '../../../api/mongo';

export function isTtlIndex(index: IndexRecord): boolean {
  const [first, ...more] = Object.keys(index.key);
  return first === '_ts' && more.length === 0;
}

/** An index that makes documents expire by a date in them. */
export function isDateIndex(index: IndexRecord): boolean {
  return !isTtlIndex(index) && index.expireAfterSeconds !== null;
}

/** The default that the indexes make. An index on `_ts` without seconds makes none. */
export function defaultOf(indexes: readonly IndexRecord[]): DefaultTtl {
  const active = indexes.find((index) => isTtlIndex(index) && index.expireAfterSeconds !== null);
  return active?.expireAfterSeconds ?? null;
}

/**
 * The commands from what there is to another default. An index that is there is changed, whatever
 * its direction and name, also one without seconds; by its name, since a key may occur twice.
 */
export function commandsFor(
  collection: string,
  indexes: readonly IndexRecord[],
  value: DefaultTtl,
): Document[] {
  const there = indexes.filter(isTtlIndex);
  const active = there.filter((index) => index.expireAfterSeconds !== null);
  if (value === null) {
    return active.map((index) => ({ dropIndexes: collection, index: index.name }));
  }
  const expireAfterSeconds = new Int32(value);
  const [inert] = there;
  const changed = active.length > 0 ? active : inert === undefined ? [] : [inert];
  if (changed.length > 0) {
    return changed.map(({ name }) => ({
      collMod: collection,
      index: { name, expireAfterSeconds },
    }));
  }
  const made = { key: { _ts: new Int32(1) }, name: '_ts_1', expireAfterSeconds };
  return [{ createIndexes: collection, indexes: [made] }];
}

/** What a new date TTL index of a field is called. */
export function dateIndexName(field: string): string {
  return `${field}_1`;
}
