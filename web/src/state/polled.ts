// Something that is asked again and again while the page is visible, at once after the server's state
// or this page has changed something, and whose last answer stays while the next one is under way or fails.
import { useCallback, useEffect, useRef, useState } from 'react';
import { acts } from './acts';
import { useRequest } from './request';
import { useServerChanges } from './server';
import { useStore } from './store';

export interface Polled<T> {
  value: T | null;
  /** Why the last time failed; null: it did not. */
  failure: unknown;
  /** Asks now. */
  again: () => void;
}

/** What was done is seen at once, and its consequences within a second or two: the server's estimates
 * are made anew every second. */
const SOON_MS = 1500;
/** What goes on failing is asked less and less often, up to this. */
const SLOWEST_MS = 60_000;

/** `ask` may be another function each time; what it asks about may not change. */
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
