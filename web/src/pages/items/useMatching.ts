// Number of matches in the whole collection, counted on request. The count is discarded when it may
// have changed.
import { useCallback, useEffect, useState } from 'react';
import { useRequest } from '../../state/request';
import { useServerChanges } from '../../state/server';
import type { Source } from './source';

interface State {
  /** null: not counted, or outdated. */
  count: number | null;
  busy: boolean;
  failure: unknown;
}

export interface Matching extends State {
  /** null: cannot be counted. */
  ask: (() => void) | null;
  forget: () => void;
}

const UNKNOWN: State = { count: null, busy: false, failure: null };

export function useMatching(source: Source | null, filter: string): Matching {
  const [state, setState] = useState<State>(UNKNOWN);
  const { send, cancel } = useRequest();
  const changes = useServerChanges();
  const forget = useCallback(() => {
    cancel();
    setState(UNKNOWN);
  }, [cancel]);
  useEffect(() => forget, [forget, source, filter, changes]);
  const ask = useCallback(() => {
    if (source === null) return;
    setState({ ...UNKNOWN, busy: true });
    void send(
      (signal) => source.count(filter, signal),
      (count) => setState({ ...UNKNOWN, count }),
      (failure) => setState({ ...UNKNOWN, failure }),
    );
  }, [source, filter, send]);
  return { ...state, ask: source?.counts(filter) === true ? ask : null, forget };
}
