// State of a query page and its transitions: executions, pages, and restoring them on return.
import { useCallback, useEffect, useRef, useState } from 'react';
import { useServerChanges } from '../../state/server';
import type { Outcome } from './history';
import { failureOutcome, pageOutcome } from './outcome';
import type { Run } from './run';
import { begun, failed, hasMore, NOTHING, type Runs, shownOf, turned, withPage } from './runState';

/** Results of pages that were left, by query name, for returning to them. */
const left = new Map<string, { runs: Runs; changes: number }>();
const MOST_LEFT = 10;
/** Closed queries, whose results are not kept. */
const closed = new Set<string>();

/** Discards the results of a query whose tab is closed. */
export function forgetRuns(name: string): void {
  left.delete(name);
  closed.add(name);
}

/** Keeps the results when the page is left. The run has ended, so no further page can be read. */
function leave(name: string, runs: Runs, changes: number): void {
  left.delete(name);
  const { before } = runs;
  const kept = before === null ? runs : { ...NOTHING, pages: before.pages, at: before.at };
  if (closed.delete(name) || kept.pages.length === 0) return;
  const of = before?.changes ?? changes;
  left.set(name, { runs: { ...kept, run: null, busy: false }, changes: of });
  for (const oldest of left.keys()) if (left.size > MOST_LEFT) left.delete(oldest);
}

/** `name`: the query's unique name within the portal. */
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
  const fetch = useCallback(async (run: Run, onEnd?: (outcome: Outcome) => void) => {
    const abort = new AbortController();
    current.current.abort = abort;
    const began = performance.now();
    try {
      const page = await run.next(abort.signal);
      onEnd?.(pageOutcome(page));
      if (current.current.run !== run) return;
      setState((known) => withPage(known, page));
    } catch (error) {
      onEnd?.(failureOutcome(error, performance.now() - began));
      if (current.current.run === run) setState((known) => failed(known, error));
    }
  }, []);
  /**
   * Starts an execution; an exception of `make` becomes its error. `onEnd` receives the outcome
   * even if the page has been left.
   */
  const execute = useCallback(
    (make: () => Run, onEnd: (outcome: Outcome) => void) => {
      current.current.abort?.abort();
      current.current.run?.end();
      current.current.run = null;
      const changes = ranIn.current;
      ranIn.current = latest.current;
      try {
        const run = make();
        current.current.run = run;
        const since = performance.now();
        setState((known) => ({ ...begun(known, changes), run, busy: true, since }));
        void fetch(run, onEnd);
      } catch (failure) {
        setState((known) => ({ ...begun(known, changes), failure }));
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
  const next = () => setState((known) => turned(known, 1));
  const previous = () => setState((known) => turned(known, -1));
  const cancel = () => current.current.abort?.abort();
  /** Whether the clock was moved or the server was unreachable since the results were read. */
  const stale =
    shownOf(state).pages.length > 0 && changes !== (state.before?.changes ?? ranIn.current);
  return { runs: state, stale, execute, next, more, previous, cancel };
}
