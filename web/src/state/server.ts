// Polls the server's state while the page is visible: the database clock, reachability, restarts.
import { useEffect, useReducer } from 'react';
import { readStatus, type Status } from '../api/admin';
import { ApiError, SILENT } from '../api/http';
import { createStore, useSelected, useStore } from './store';

export interface ServerState {
  status: Status | null;
  /** `performance.now()` when the status was read. */
  readAt: number;
  /** Browser time in ms since which the server has not answered; null: it answers. */
  silentSince: number | null;
  /** What the server reports it waits for before it serves requests; null if nothing. */
  waitsFor: string | null;
  /** Incremented when the server answers again and when a manual clock is moved. */
  changes: number;
}

const POLL_MS = 1000;
/** Status of a server that is starting or owns nothing: it refuses every request. */
const UNAVAILABLE = 503;

export const server = createStore<ServerState>({
  status: null,
  readAt: 0,
  silentSince: null,
  waitsFor: null,
  changes: 0,
});

/** Whether a manual clock was moved. */
function moved(before: Status | null, after: Status): boolean {
  return (
    after.clock.mode === 'manual' && before !== null && before.clock.now_ms !== after.clock.now_ms
  );
}

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

/** Makes all views reload, e.g. after a login. */
export function askAgain(): void {
  server.update((known) => ({ ...known, changes: known.changes + 1 }));
}

/** Starts polling; used once in the application. */
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

/** Returns the database time in ms; null: not known. A manual clock does not advance. */
export function databaseNow(state: ServerState = server.get()): number | null {
  const clock = state.status?.clock;
  if (clock === undefined) return null;
  if (clock.mode === 'manual') return clock.now_ms;
  return clock.now_ms + (performance.now() - state.readAt);
}

/** Returns the database time; re-renders at every full second. */
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

/** Returns the message unless the banner already reports an unreachable server. */
export function useUnsaid(words: string | null): string | null {
  const isSilent = useSelected(server, ({ silentSince }) => silentSince !== null);
  return words === SILENT && isSilent ? null : words;
}

/** Changes when all data may have changed: after an outage or a move of the clock. */
export function useServerChanges(): number {
  return useSelected(server, (state) => state.changes);
}
