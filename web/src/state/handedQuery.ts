// A query that was chosen elsewhere and is to be taken into the form of its collection.
import { useEffect } from 'react';
import { pathOf, type Target } from './place';
import { createStore, useStore } from './store';

interface Handed {
  /** The path of the collection's page of queries. */
  path: string;
  texts: Record<string, string>;
}

const handed = createStore<Handed | null>(null);

const pathTo = (target: Target) => pathOf({ page: 'collection', view: 'query', ...target });

export function handQuery(target: Target, texts: Record<string, string>): void {
  handed.set({ path: pathTo(target), texts });
}

/** Takes it once, on the page of its collection. */
export function useHandedQuery(
  target: Target,
  onTake: (texts: Record<string, string>) => void,
): void {
  const found = useStore(handed);
  const path = pathTo(target);
  useEffect(() => {
    if (found === null || found.path !== path) return;
    handed.set(null);
    onTake(found.texts);
  }, [found, path, onTake]);
}
