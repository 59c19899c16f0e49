// Loads the current size of a collection for a confirmation.
import { useEffect, useState } from 'react';
import { collectionsOf, type Forecast, forecast } from '../../api/admin';
import { counted } from '../../pure/figures/amount';
import type { Door, Target } from '../../state/place';

/** Returns the forecast; null: not known. */
export function useHolds(target: Target | null): Forecast | null {
  const [known, setKnown] = useState<Forecast | null>(null);
  useEffect(() => {
    let left = false;
    if (target === null) return;
    forecast(target).then(
      (found) => !left && setKnown(found),
      () => undefined,
    );
    return () => {
      left = true;
    };
  }, [target]);
  return known;
}

/** Describes a database's content: "6 collections with 3,123 documents"; else "everything". */
export function useDatabaseHolds(of: { door: Door; database: string } | null): string {
  const [known, setKnown] = useState('everything');
  const [door, database] = [of?.door ?? null, of?.database ?? null];
  useEffect(() => {
    let left = false;
    if (door === null || database === null) return;
    collectionsOf(database).then(
      (all) => {
        const ours = all.filter(({ api }) => api === door);
        const documents = ours.reduce((sum, { live }) => sum + live.documents, 0);
        const [place, word] = door === 'nosql' ? ['container', 'item'] : ['collection', 'document'];
        if (!left) setKnown(`${counted(ours.length, place)} with ${counted(documents, word)}`);
      },
      () => undefined,
    );
    return () => {
      left = true;
    };
  }, [door, database]);
  return known;
}

/** "4,000 documents", "about 1 item"; "all documents" while unknown. */
export function heldInWords(known: Forecast | null, { door }: Target): string {
  const word = door === 'nosql' ? 'item' : 'document';
  if (known === null) return `all ${word}s`;
  const said = counted(known.live.documents, word);
  return known.exact ? said : `about ${said}`;
}
