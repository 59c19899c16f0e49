// Loads the effect of another default, debounced; a new request cancels the previous one.
import { useEffect, useRef, useState } from 'react';
import {
  type DefaultTtl,
  type Forecast,
  forecast,
  type Preview,
  preview,
} from '../../../api/admin';
import { words } from '../../../api/http';
import type { Target } from '../../../state/place';
import { useRequest } from '../../../state/request';
import { useServerChanges } from '../../../state/server';

export interface Impact {
  /** The previewed default. */
  value: DefaultTtl;
  preview: Preview;
  /** The current forecast for comparison. */
  now: Forecast;
}

export type ImpactState =
  | { kind: 'none' }
  | { kind: 'asking' }
  | { kind: 'known'; impact: Impact }
  | { kind: 'failed'; text: string };

const PAUSE_MS = 300;

/** Loads the effect of a default; `undefined`: nothing to preview. */
export function useImpact(target: Target, value: DefaultTtl | undefined): ImpactState {
  const changes = useServerChanges();
  const [state, set] = useState<ImpactState>({ kind: 'none' });
  const { send, cancel } = useRequest();
  const { door, database, collection } = target;
  const key = JSON.stringify([door, database, collection, value]);
  const asked = useRef('');
  useEffect(() => {
    const isSame = asked.current === key;
    asked.current = key;
    if (value === undefined) {
      set({ kind: 'none' });
      return;
    }
    // After a move of the clock the effect of the same default is shown until the new one arrives:
    // without it the save button is disabled, and a click at that moment would be lost.
    if (!isSame) set({ kind: 'asking' });
    const about = { door, database, collection };
    const ask = () =>
      send(
        (signal) => Promise.all([preview(about, value, signal), forecast(about)]),
        ([found, now]) => set({ kind: 'known', impact: { value, preview: found, now } }),
        (error) => set({ kind: 'failed', text: words(error) }),
      );
    const timer = setTimeout(() => void ask(), PAUSE_MS);
    return () => {
      clearTimeout(timer);
      cancel();
    };
  }, [door, database, collection, value, key, changes, send, cancel]);
  return state;
}
