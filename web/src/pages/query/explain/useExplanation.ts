// Loads the explanation of a run when it is shown, or at once if that costs nothing.
import { useEffect, useState } from 'react';
import type { Runs } from '../runState';
import type { Explanation } from './explanation';

export interface Explaining {
  explanation: Explanation | null;
  failure: unknown;
}

const NOTHING: Explaining = { explanation: null, failure: null };

export function useExplanation({ run, pages, failure }: Runs, isShown: boolean): Explaining {
  const [known, setKnown] = useState<Explaining>(NOTHING);
  const read = pages.length;
  const isOver = read > 0 || failure !== null;
  const isWanted = run !== null && isOver && (isShown || run.explainsFreely);
  useEffect(() => {
    setKnown(NOTHING);
    if (run === null || !isWanted) return;
    const abort = new AbortController();
    run.explain(abort.signal).then(
      (explanation) => !abort.signal.aborted && setKnown({ explanation, failure: null }),
      (error: unknown) => !abort.signal.aborted && setKnown({ explanation: null, failure: error }),
    );
    return () => abort.abort();
  }, [run, isWanted, read]);
  return known;
}
