// The state of a query page: the execution under way, its pages, and how it failed.
import { useCallback, useEffect, useRef, useState } from 'react';
import { ApiError } from '../../api/http';
import { useServerChanges } from '../../state/server';
import type { ResultPage, Run } from './run';

export interface Runs {
  run: Run | null;
  pages: readonly ResultPage[];
  /** Which page is shown. */
  at: number;
  busy: boolean;
  /** When it was last asked, of `performance.now()`. */
  since: number;
  failure: unknown;
  cancelled: boolean;
  /** The clock has moved since, or the server was away. */
  stale: boolean;
}

export const NOTHING: Runs = {
  run: null,
  pages: [],
  at: 0,
  busy: false,
  since: 0,
  failure: null,
  cancelled: false,
  stale: false,
};

function after(error: unknown): Partial<Runs> {
  const cancelled = error instanceof ApiError && error.kind === 'cancelled';
  return cancelled ? { busy: false, cancelled } : { busy: false, failure: error };
}

/** Whether there is a page behind those that were read, and it can be read. */
export function hasMore({ run, pages }: Runs): boolean {
  return run !== null && pages.at(-1)?.more === true;
}

/** What was read before its page was left, for the way back; by the name of the query. */
const left = new Map<string, { runs: Runs; changes: number }>();
const MOST_LEFT = 10;
/** Queries that were closed; nobody comes back to them. */
const closed = new Set<string>();

/** Has nothing kept of a query whose tab is closed. */
export function forgetRuns(name: string): void {
  left.delete(name);
  closed.add(name);
}

/** Keeps what was read. The run itself has ended: nothing more can be had from it. */
function leave(name: string, runs: Runs, changes: number): void {
  left.delete(name);
  if (closed.delete(name) || runs.pages.length === 0) return;
  left.set(name, { runs: { ...runs, run: null, busy: false }, changes });
  for (const oldest of left.keys()) if (left.size > MOST_LEFT) left.delete(oldest);
}

/** `name` is that of the query, among all of the portal. */
export function useRuns(name: string) {
  const [state, setState] = useState<Runs>(() => left.get(name)?.runs ?? NOTHING);
  const current = useRef<{ run: Run | null; abort: AbortController | null }>({
    run: null,
    abort: null,
  });
  const changes = useServerChanges();
  const ranIn = useRef(left.get(name)?.changes ?? changes);
  const latest = useRef(changes);
  useEffect(() => {
    latest.current = changes;
  }, [changes]);
  const read = useRef(state);
  useEffect(() => {
    read.current = state;
  }, [state]);
  useEffect(() => {
    const held = current.current;
    return () => {
      held.abort?.abort();
      held.run?.end();
      leave(name, read.current, ranIn.current);
    };
  }, [name]);
  const fetch = useCallback(async (run: Run) => {
    const abort = new AbortController();
    current.current.abort = abort;
    try {
      const page = await run.next(abort.signal);
      if (current.current.run !== run) return;
      setState((known) => ({
        ...known,
        busy: false,
        pages: [...known.pages, page],
        at: known.pages.length,
      }));
    } catch (error) {
      if (current.current.run === run) setState((known) => ({ ...known, ...after(error) }));
    }
  }, []);
  /** Starts anew with what `make` gives; what it throws is the failure. */
  const execute = useCallback(
    (make: () => Run) => {
      current.current.abort?.abort();
      current.current.run?.end();
      current.current.run = null;
      try {
        const run = make();
        current.current.run = run;
        ranIn.current = latest.current;
        setState({ ...NOTHING, run, busy: true, since: performance.now() });
        void fetch(run);
      } catch (failure) {
        setState({ ...NOTHING, failure });
      }
    },
    [fetch],
  );
  const more = () => {
    const { run, busy } = state;
    if (run === null || busy || !hasMore(state)) return;
    const since = performance.now();
    setState({ ...state, busy: true, since, failure: null, cancelled: false });
    void fetch(run);
  };
  const next = () => setState({ ...state, at: Math.min(state.at + 1, state.pages.length - 1) });
  const previous = () => setState({ ...state, at: Math.max(0, state.at - 1) });
  const cancel = () => current.current.abort?.abort();
  const stale = state.pages.length > 0 && changes !== ranIn.current;
  return { runs: { ...state, stale }, execute, next, more, previous, cancel };
}
