// What another default would do, asked of the server a moment after the last change; an earlier
// question is cancelled.
import { useEffect, useState } from 'react';
import {
  type DefaultTtl,
  type Forecast,
  forecast,
  type Preview,
  preview,
} from '../../../api/admin';
import { ApiError, words } from '../../../api/http';
import type { Target } from '../../../state/place';
import { useServerChanges } from '../../../state/server';

export interface Impact {
  /** For which default. */
  value: DefaultTtl;
  preview: Preview;
  /** What holds now, to compare with. */
  now: Forecast;
}

export type ImpactState =
  | { kind: 'none' }
  | { kind: 'asking' }
  | { kind: 'known'; impact: Impact }
  | { kind: 'failed'; text: string };

const PAUSE_MS = 300;

/** Asks for the effect of a default. `undefined`: there is nothing to ask. */
export function useImpact(target: Target, value: DefaultTtl | undefined): ImpactState {
  const changes = useServerChanges();
  const [state, set] = useState<ImpactState>({ kind: 'none' });
  const { door, database, collection } = target;
  useEffect(() => {
    if (value === undefined) {
      set({ kind: 'none' });
      return;
    }
    const cancel = new AbortController();
    set({ kind: 'asking' });
    const ask = async () => {
      const about = { door, database, collection };
      try {
        const [found, now] = await Promise.all([
          preview(about, value, cancel.signal),
          forecast(about),
        ]);
        if (!cancel.signal.aborted) set({ kind: 'known', impact: { value, preview: found, now } });
      } catch (error) {
        if (cancel.signal.aborted) return;
        if (error instanceof ApiError && error.kind === 'cancelled') return;
        set({ kind: 'failed', text: words(error) });
      }
    };
    const timer = setTimeout(() => void ask(), PAUSE_MS);
    return () => {
      clearTimeout(timer);
      cancel.abort();
    };
  }, [door, database, collection, value, changes]);
  return state;
}
