// Polls for changes by others to the open item while the page is visible.
import { useEffect, useRef } from 'react';
import type { Newer, Opened, Source } from './source';

const EVERY_MS = 3000;

/** `about`: the latest known version; null: polling is off. */
export function useNewer(
  source: Source,
  about: Opened | null,
  onNewer: (newer: NonNullable<Newer>) => void,
): void {
  const told = useRef(onNewer);
  useEffect(() => {
    told.current = onNewer;
  });
  useEffect(() => {
    if (about === null) return;
    const ended = new AbortController();
    const ask = async () => {
      if (document.visibilityState !== 'visible') return;
      const newer = await source.newer(about, ended.signal);
      if (newer !== null && !ended.signal.aborted) told.current(newer);
    };
    let timer: ReturnType<typeof setTimeout> | undefined;
    const wait = () => {
      timer = setTimeout(() => {
        // After a network failure polling continues; a refusal is reported by other requests.
        void ask()
          .catch(() => {})
          .finally(() => {
            if (!ended.signal.aborted) wait();
          });
      }, EVERY_MS);
    };
    wait();
    return () => {
      ended.abort();
      clearTimeout(timer);
    };
  }, [source, about]);
}
