// What a collection holds now, for a question about all of it.
import { useEffect, useState } from 'react';
import { type Forecast, forecast } from '../../api/admin';
import { counted } from '../../pure/figures/amount';
import type { Target } from '../../state/place';

/** null: not known yet, or the server does not say. */
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

/** "4,000 documents", "about 1 item"; "all documents" while their number is not known. */
export function heldInWords(known: Forecast | null, { door }: Target): string {
  const word = door === 'nosql' ? 'item' : 'document';
  if (known === null) return `all ${word}s`;
  const said = counted(known.live.documents, word);
  return known.exact ? said : `about ${said}`;
}
