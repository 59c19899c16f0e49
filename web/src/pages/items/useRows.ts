// The loaded rows, page by page, and their expiry: a single timer is set to the next deadline.
import { useCallback, useEffect, useRef, useState } from 'react';
import { ApiError, words } from '../../api/http';
import { databaseNow, server, useServerChanges } from '../../state/server';
import { useStore } from '../../state/store';
import { isAboutFilter } from './aboutFilter';
import type { Sort } from './sort';
import type { Cursor, Row, Source } from './source';

const FIRST = 100;
const MORE = 1000;
export const MOST = 100_000;
/** Number of rows that are loaded again when everything may have changed. */
const KEPT = 5000;
const LONGEST_TIMER = 2_000_000_000;

export interface Rows {
  rows: readonly Row[];
  /** null: all are loaded. */
  cursor: Cursor | null;
  loading: boolean;
  /** Whether the first page has been loaded. */
  ready: boolean;
  /** Error of the last load; null: none. */
  failure: unknown;
  /** Why the server did not sort as requested; null: it did. */
  unsorted: string | null;
  /** The filter of the listed rows if the server refuses the requested one; null: it does not. */
  instead: string | null;
  loadMore: () => void;
  loadAll: () => void;
  /** Whether all rows are being loaded, until `stop`. */
  loadingAll: boolean;
  stop: () => void;
  reload: () => void;
  put: (row: Row, insteadOf?: string) => void;
  remove: (key: string) => void;
  /** Replaces listed rows by their current versions. */
  renew: (rows: readonly Row[]) => void;
  removeAll: (keys: ReadonlySet<string>) => void;
}

interface State {
  rows: readonly Row[];
  cursor: Cursor | null;
  loading: boolean;
  ready: boolean;
  /** Error of the last load; null: none. */
  failure: unknown;
}

const EMPTY: State = { rows: [], cursor: null, loading: false, ready: false, failure: null };

/** Returns the rows that are live; the same array if all are. */
export function living(rows: readonly Row[], nowMs: number): readonly Row[] {
  const left = rows.filter(
    ({ expiry }) => expiry.expiresAtMs === null || expiry.expiresAtMs > nowMs,
  );
  return left.length === rows.length ? rows : left;
}

function nextDeath(rows: readonly Row[]): number {
  let next = Infinity;
  for (const { expiry } of rows)
    if (expiry.expiresAtMs !== null && expiry.expiresAtMs < next) next = expiry.expiresAtMs;
  return next;
}

/** Removes rows at their deadlines, and reports how many. */
function useDeaths(
  rows: readonly Row[],
  onDeaths: (left: readonly Row[], died: number) => void,
): void {
  const state = useStore(server);
  const next = useRef<{ rows: readonly Row[]; at: number }>({ rows: [], at: Infinity });
  const told = useRef(onDeaths);
  useEffect(() => {
    told.current = onDeaths;
  });
  useEffect(() => {
    if (next.current.rows !== rows) next.current = { rows, at: nextDeath(rows) };
    const now = databaseNow(state);
    const wait = now === null ? Infinity : next.current.at - now;
    if (wait === Infinity) return;
    const look = () => {
      const left = living(rows, databaseNow() ?? 0);
      if (left !== rows) told.current(left, rows.length - left.length);
    };
    if (wait <= 0) {
      look();
      return;
    }
    if (state.status?.clock.mode === 'manual') return;
    const timer = setTimeout(look, Math.min(LONGEST_TIMER, wait + 1));
    return () => clearTimeout(timer);
  }, [rows, state]);
}

export function useRows(
  source: Source | null,
  filter: string,
  /** The requested order; null: the server's. */
  sort: Sort | null,
  onDeaths: (died: number) => void,
): Rows {
  const [state, setState] = useState<State>(EMPTY);
  const [loadingAll, setLoadingAll] = useState(false);
  const running = useRef<AbortController | null>(null);
  const latest = useRef(state);
  latest.current = state;
  const changes = useServerChanges();

  /** The server's cursor and its source; released when the filter or source changes. */
  const held = useRef<{ source: Source; cursor: Cursor } | null>(null);
  const giveUp = useCallback(() => {
    const left = held.current;
    held.current = null;
    if (left !== null) left.source.release(left.cursor);
  }, []);

  /** Why the server did not sort; null: it did, or was not asked to. */
  const unsorted = useRef<string | null>(null);

  /** The filter of the current rows. */
  const answered = useRef(filter);

  /** Loads from the cursor until there are `wanted` rows; `fresh`: from the start. */
  const fetch = useCallback(
    async (wanted: number, fresh: boolean) => {
      if (source === null || (running.current !== null && !fresh)) return;
      running.current?.abort();
      if (fresh) giveUp();
      const turn = new AbortController();
      running.current = turn;
      setState((known) => ({ ...known, loading: true, failure: null }));
      let rows = fresh ? [] : latest.current.rows;
      let cursor = fresh ? null : latest.current.cursor;
      if (fresh) unsorted.current = null;
      try {
        for (let first = fresh; first || (cursor !== null && rows.length < wanted); first = false) {
          const size = Math.min(MORE, Math.max(FIRST, wanted - rows.length));
          const page = await source
            .load(
              { filter, sort: unsorted.current === null ? sort : null },
              cursor,
              size,
              turn.signal,
            )
            .catch((error: unknown) => {
              // If the server cannot sort, list unsorted.
              const isRefused = error instanceof ApiError && error.kind === 'refused';
              if (!first || sort === null || !isRefused) throw error;
              unsorted.current = words(error);
              return source.load({ filter, sort: null }, null, size, turn.signal);
            });
          if (turn.signal.aborted) {
            if (page.cursor !== null) source.release(page.cursor);
            return;
          }
          held.current = page.cursor === null ? null : { source, cursor: page.cursor };
          // Rows may have expired or changed while the page was loading.
          const base: readonly Row[] = first ? [] : latest.current.rows;
          rows = [...base, ...page.rows];
          cursor = page.cursor;
          latest.current = { ...latest.current, rows, cursor, ready: true };
          answered.current = filter;
          setState({ ...latest.current, loading: true, failure: null });
        }
        setState((known) => ({ ...known, loading: false, ready: true }));
      } catch (error) {
        if (turn.signal.aborted) return;
        // Rows of a deleted collection or of another filter are dropped, unless the new filter is
        // invalid: then the old rows stay until it is corrected. Their cursor has been released.
        const isOther = answered.current !== filter;
        const isMissing = error instanceof ApiError && error.status === 404;
        if (isMissing || (isOther && !isAboutFilter(error, filter)))
          latest.current = { ...latest.current, rows: [], cursor: null };
        else if (isOther) latest.current = { ...latest.current, cursor: null };
        const { rows, cursor } = latest.current;
        setState((known) => ({
          ...known,
          rows,
          cursor,
          loading: false,
          ready: true,
          failure: error,
        }));
      } finally {
        if (running.current === turn) running.current = null;
      }
    },
    [source, filter, sort, giveUp],
  );

  const reload = useCallback(() => {
    void fetch(Math.max(FIRST, Math.min(KEPT, latest.current.rows.length)), true);
  }, [fetch]);
  useEffect(reload, [reload, changes]);
  useEffect(
    () => () => {
      running.current?.abort();
      giveUp();
    },
    [giveUp],
  );
  useDeaths(state.rows, (left, died) => {
    latest.current = { ...latest.current, rows: left };
    setState((known) => ({ ...known, rows: left }));
    onDeaths(died);
  });
  const change = useCallback((make: (rows: readonly Row[]) => readonly Row[]) => {
    latest.current = { ...latest.current, rows: make(latest.current.rows) };
    setState((known) => ({ ...known, rows: latest.current.rows }));
  }, []);
  return {
    ...state,
    unsorted: unsorted.current,
    instead:
      state.failure !== null && answered.current !== filter && isAboutFilter(state.failure, filter)
        ? answered.current
        : null,
    reload,
    loadMore: useCallback(() => {
      const { rows, cursor, failure } = latest.current;
      if (cursor !== null && failure === null && rows.length < MOST)
        void fetch(rows.length + MORE, false);
    }, [fetch]),
    loadAll: useCallback(() => {
      setLoadingAll(true);
      void fetch(MOST, false).finally(() => setLoadingAll(false));
    }, [fetch]),
    loadingAll,
    stop: useCallback(() => {
      running.current?.abort();
      running.current = null;
      setState((known) => ({ ...known, loading: false }));
    }, []),
    put: useCallback(
      (row, insteadOf = row.key) =>
        change((rows) => {
          const at = rows.findIndex((known) => known.key === insteadOf);
          return at < 0 ? [row, ...rows] : rows.with(at, row);
        }),
      [change],
    ),
    renew: useCallback(
      (newer) => {
        const byKey = new Map(newer.map((row) => [row.key, row]));
        change((rows) => rows.map((row) => byKey.get(row.key) ?? row));
      },
      [change],
    ),
    removeAll: useCallback(
      (keys) => change((rows) => rows.filter((row) => !keys.has(row.key))),
      [change],
    ),
    remove: useCallback((key) => change((rows) => rows.filter((row) => row.key !== key)), [change]),
  };
}
