// What the server's state is, asked again and again while the page is visible: the database clock,
// whether it answers at all, and whether it was started anew.
import { useEffect, useReducer } from 'react';
import { readStatus, type Status } from '../api/admin';
import { ApiError, SILENT } from '../api/http';
import { createStore, useSelected, useStore } from './store';

export interface ServerState {
  status: Status | null;
  /** `performance.now()` when the status was read. */
  readAt: number;
  /** Since when it does not answer, the browser's time in ms; null: it does. */
  silentSince: number | null;
  /** What it says that it waits for before it serves requests; null: it says nothing. */
  waitsFor: string | null;
  /** Grows when the server answers again after a silence, and when a manual clock was moved. */
  changes: number;
}

const POLL_MS = 1000;
/** A server that is being opened, or owns nothing: it refuses every request. */
const UNAVAILABLE = 503;

export const server = createStore<ServerState>({
  status: null,
  readAt: 0,
  silentSince: null,
  waitsFor: null,
  changes: 0,
});

/** A clock that stands still has moved, further than answers take. */
function moved(before: Status | null, after: Status): boolean {
  return (
    after.clock.mode === 'manual' && before !== null && before.clock.now_ms !== after.clock.now_ms
  );
}

/** Reads the state now. */
export async function refreshServer(): Promise<void> {
  try {
    const status = await readStatus();
    server.update((known) => ({
      status,
      readAt: performance.now(),
      silentSince: null,
      waitsFor: null,
      changes: known.changes + (known.silentSince !== null || moved(known.status, status) ? 1 : 0),
    }));
  } catch (error) {
    if (!(error instanceof ApiError)) return;
    const waits = error.status === UNAVAILABLE;
    if (!waits && error.kind !== 'network' && error.kind !== 'timeout') return;
    server.update((known) => ({
      ...known,
      silentSince: known.silentSince ?? Date.now(),
      waitsFor: waits ? error.message : null,
    }));
  }
}

/** Everything that is shown may have changed, e.g. with who is signed in. */
export function askAgain(): void {
  server.update((known) => ({ ...known, changes: known.changes + 1 }));
}

/** Keeps asking; once for the whole application. */
export function useServerPolling(): void {
  useEffect(() => {
    let stopped = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const ask = async () => {
      if (document.visibilityState === 'visible') await refreshServer();
      if (!stopped) timer = setTimeout(() => void ask(), POLL_MS);
    };
    void ask();
    return () => {
      stopped = true;
      clearTimeout(timer);
    };
  }, []);
}

/** The database's time now, ms; null: not known yet. A manual clock stands still. */
export function databaseNow(state: ServerState = server.get()): number | null {
  const clock = state.status?.clock;
  if (clock === undefined) return null;
  if (clock.mode === 'manual') return clock.now_ms;
  return clock.now_ms + (performance.now() - state.readAt);
}

/** The database's time, again at every whole second of it. */
export function useNow(): number | null {
  const state = useStore(server);
  const [, again] = useReducer((n: number) => n + 1, 0);
  const now = databaseNow(state);
  useEffect(() => {
    if (now === null || state.status?.clock.mode === 'manual') return;
    const timer = setTimeout(again, 1000 - (now % 1000));
    return () => clearTimeout(timer);
  });
  return now;
}

/** What is to be said of a failure; null: that the server is silent stands above every page already. */
export function useUnsaid(words: string | null): string | null {
  const isSilent = useSelected(server, ({ silentSince }) => silentSince !== null);
  return words === SILENT && isSilent ? null : words;
}

/** Changes when everything that is shown may have changed: after a silence, after a clock move. */
export function useServerChanges(): number {
  return useSelected(server, (state) => state.changes);
}
