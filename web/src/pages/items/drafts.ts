// Drafts of items: their names, and which rows of a list have one.
import { useMemo } from 'react';
import { drafts } from '../../state/draft';
import type { Target } from '../../state/place';
import { useStore } from '../../state/store';

/** Returns the draft name of an item; key null: a new item. */
export function draftOf({ door, database, collection }: Target, key: string | null): string {
  return JSON.stringify(['item', door, database, collection, key]);
}

/** Returns the name under which the edited version is kept beside the draft. */
export function baseOf(name: string): string {
  return `base ${name}`;
}

/** Returns the keys of a collection's items with drafts. Pure. */
export function keysWithDrafts(names: ReadonlySet<string>, target: Target): ReadonlySet<string> {
  // Common prefix of all draft names of the collection.
  const start = `${draftOf(target, '').slice(0, -'""]'.length)}"`;
  const ours = [...names].filter((name) => name.startsWith(start));
  return new Set(ours.map((name) => (JSON.parse(name) as string[]).at(-1) ?? ''));
}

export function useDrafted(target: Target): ReadonlySet<string> {
  const names = useStore(drafts);
  const { door, database, collection } = target;
  return useMemo(
    () => keysWithDrafts(names, { door, database, collection }),
    [names, door, database, collection],
  );
}
