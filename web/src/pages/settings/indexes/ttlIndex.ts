// The index on `_ts`, which represents a MongoDB collection's default TTL, and the commands that
// change it. Pure: does not execute them.
import { Int32 } from 'bson';
import type { DefaultTtl } from '../../../api/admin';
import type { Document, IndexRecord } from '../../../api/mongo';

export function isTtlIndex(index: IndexRecord): boolean {
  const [first, ...more] = Object.keys(index.key);
  return first === '_ts' && more.length === 0;
}

/** Returns whether an index is a TTL index on a date. */
export function isDateIndex(index: IndexRecord): boolean {
  return !isTtlIndex(index) && index.expireAfterSeconds !== null;
}

/** Returns the default TTL by the indexes. An index on `_ts` without seconds defines none. */
export function defaultOf(indexes: readonly IndexRecord[]): DefaultTtl {
  const active = indexes.find((index) => isTtlIndex(index) && index.expireAfterSeconds !== null);
  return active?.expireAfterSeconds ?? null;
}

/**
 * Returns the commands that change the default. An existing index on `_ts` is modified by name,
 * since a key may occur twice, in either direction, and even without seconds.
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

/** Returns the name of a new TTL index on a field. */
export function dateIndexName(field: string): string {
  return `${field}_1`;
}
