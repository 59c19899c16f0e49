// Drafts of items: what each is kept under, and which rows of a list have one.
import { useMemo } from 'react';
import { drafts } from '../../state/draft';
import type { Target } from '../../state/place';
import { useStore } from '../../state/store';

/** What the draft of an item is kept under; a key of null: of a new one. */
export function draftOf({ door, database, collection }: Target, key: string | null): string {
  return JSON.stringify(['item', door, database, collection, key]);
}

/** What is kept under it beside the draft: the text that it was made on. */
export function baseOf(name: string): string {
  return `base ${name}`;
}

/** Keys of the items of a collection that have a draft. Pure. */
export function keysWithDrafts(names: ReadonlySet<string>, target: Target): ReadonlySet<string> {
  // All names of a collection differ only behind this.
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
