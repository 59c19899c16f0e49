// Polls a value while the page is visible, and at once when the server's state changes or this page
// writes. The last value stays while a request is pending or fails.
import { useCallback, useEffect, useRef, useState } from 'react';
import { acts } from './acts';
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
  // Numbers of the last request and of the last shown answer.
  const asked = useRef(0);
  const shown = useRef(0);
  const begun = useRef(false);
  useEffect(() => {
    let ended = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let failures = 0;
    let isSoon = begun.current;
    begun.current = true;
    // An answer counts unless a later one is shown: otherwise changes that follow each other faster
    // than the server answers would keep the value from ever being shown.
    const read = async () => {
      asked.current += 1;
      const number = asked.current;
      try {
        const value = await latest.current();
        if (number < shown.current) return;
        shown.current = number;
        failures = 0;
        hold({ value, failure: null });
      } catch (failure) {
        if (number !== asked.current) return;
        failures += 1;
        hold((known) => ({ ...known, failure }));
      }
    };
    const run = async () => {
      if (document.visibilityState === 'visible') await read();
      if (ended) return;
      const wait = isSoon
        ? Math.min(SOON_MS, everyMs)
        : Math.max(everyMs, Math.min(everyMs * 2 ** failures, SLOWEST_MS));
      isSoon = false;
      timer = setTimeout(() => void run(), wait);
    };
    void run();
    return () => {
      ended = true;
      clearTimeout(timer);
    };
  }, [everyMs, changes, done, turn]);
  const again = useCallback(() => setTurn((n) => n + 1), []);
  return { ...held, again };
}
