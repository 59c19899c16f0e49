// Notices what others do to the item that is open, asking every few seconds while the page is visible.
import { useEffect, useRef } from 'react';
import type { Newer, Opened, Source } from './source';

const EVERY_MS = 3000;

/** `about`: the newest that is known; null: nothing is asked now. */
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
        // A server that does not answer is asked again; one that refuses says so where it is asked for more.
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
