// Loads the effect of another default, debounced; a new request cancels the previous one.
import {
  type DefaultTtl,
  type Forecast,
  forecast,
  type Preview,
  preview,
} from '../../../api/admin';
import { words } from '../../../api/http';
import type { Target } from '../../../state/place';
import { useRenewed } from '../../../state/renewed';

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

/** Loads the effect of a default; `undefined`: nothing to preview. */
export function useImpact(target: Target, value: DefaultTtl | undefined): ImpactState {
  const { door, database, collection } = target;
  const about = { door, database, collection };
  const load = async (signal: AbortSignal): Promise<ImpactState> => {
    if (value === undefined) return { kind: 'none' };
    try {
      const [found, now] = await Promise.all([preview(about, value, signal), forecast(about)]);
      return { kind: 'known', impact: { value, preview: found, now } };
    } catch (error) {
      return { kind: 'failed', text: words(error) };
    }
  };
  const key = value === undefined ? null : JSON.stringify([about, value]);
  return useRenewed(key, load)[0];
}
