// How many rows of the whole collection fit the filter, when somebody asks. What is known is
// forgotten when it may be another number.
import { useCallback, useEffect, useRef, useState } from 'react';
import { ApiError } from '../../api/http';
import { useServerChanges } from '../../state/server';
import type { Source } from './source';

interface State {
  /** null: not asked, or not known any more. */
  count: number | null;
  busy: boolean;
  failure: unknown;
}

export interface Matching extends State {
  /** null: it cannot be asked. */
  ask: (() => void) | null;
  forget: () => void;
}

const UNKNOWN: State = { count: null, busy: false, failure: null };

export function useMatching(source: Source | null, filter: string): Matching {
  const [state, setState] = useState<State>(UNKNOWN);
  const asked = useRef<AbortController | null>(null);
  const changes = useServerChanges();
  const forget = useCallback(() => {
    asked.current?.abort();
    asked.current = null;
    setState(UNKNOWN);
  }, []);
  useEffect(() => forget, [forget, source, filter, changes]);
  const ask = useCallback(() => {
    if (source === null) return;
    asked.current?.abort();
    const turn = new AbortController();
    asked.current = turn;
    setState({ ...UNKNOWN, busy: true });
    source.count(filter, turn.signal).then(
      (count) => {
        if (!turn.signal.aborted) setState({ ...UNKNOWN, count });
      },
      (failure: unknown) => {
        if (turn.signal.aborted || (failure instanceof ApiError && failure.kind === 'cancelled'))
          return;
        setState({ ...UNKNOWN, failure });
      },
    );
  }, [source, filter]);
  return { ...state, ask: source?.counts(filter) === true ? ask : null, forget };
}
