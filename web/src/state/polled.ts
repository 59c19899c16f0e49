// Polls a value while the page is visible, and at once when the server's state changes or this page
// writes. The last value stays while a request is pending or fails.
import { useCallback, useEffect, useRef, useState } from 'react';
import { acts } from './acts';
import { useRequest } from './request';
import { useServerChanges } from './server';
import { useStore } from './store';

export interface Polled<T> {
  value: T | null;
  /** Error of the last request; null: it succeeded. */
  failure: unknown;
  /** Polls now. */
  again: () => void;
}

/** Delay of a second poll after a write, since the server updates estimates every second. */
const SOON_MS = 1500;
/** Maximum interval of the backoff while requests fail. */
const SLOWEST_MS = 60_000;

/** `ask` may be a new function in each render but must request the same thing. */
export function usePolled<T>(ask: () => Promise<T>, everyMs: number): Polled<T> {
  const [held, hold] = useState<{ value: T | null; failure: unknown }>({
    value: null,
    failure: null,
  });
  const [turn, setTurn] = useState(0);
  const latest = useRef(ask);
  useEffect(() => {
    latest.current = ask;
  });
  const changes = useServerChanges();
  const done = useStore(acts);
  const { send, cancel } = useRequest();
  const begun = useRef(false);
  useEffect(() => {
    let ended = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let failures = 0;
    let isSoon = begun.current;
    begun.current = true;
    const run = async () => {
      if (document.visibilityState === 'visible') {
        await send(
          () => latest.current(),
          (value) => {
            failures = 0;
            hold({ value, failure: null });
          },
          (failure) => {
            failures += 1;
            hold((known) => ({ ...known, failure }));
          },
        );
      }
      const wait = isSoon
        ? Math.min(SOON_MS, everyMs)
        : Math.max(everyMs, Math.min(everyMs * 2 ** failures, SLOWEST_MS));
      isSoon = false;
      if (!ended) timer = setTimeout(() => void run(), wait);
    };
    void run();
    return () => {
      ended = true;
      clearTimeout(timer);
      cancel();
    };
  }, [everyMs, changes, done, turn, send, cancel]);
  const again = useCallback(() => setTurn((n) => n + 1), []);
  return { ...held, again };
}
