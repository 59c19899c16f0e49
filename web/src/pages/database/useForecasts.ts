// Forecasts of collections, loaded as their rows become visible, a few at a time.
import { useCallback, useEffect, useRef, useState } from 'react';
import { type Forecast, forecast } from '../../api/admin';
import { words } from '../../api/http';
import { acts } from '../../state/acts';
import type { Door } from '../../state/place';
import { useServerChanges } from '../../state/server';
import { useStore } from '../../state/store';

export type Known = { forecast: Forecast } | { failure: string };

const AT_ONCE = 4;
/** Refresh interval of visible rows. */
const AGAIN_MS = 15_000;

interface Queue {
  waiting: string[];
  running: number;
  ended: boolean;
}

export function useForecasts(door: Door, database: string) {
  const [known, setKnown] = useState<ReadonlyMap<string, Known>>(new Map());
  const [round, setRound] = useState(0);
  const changes = useServerChanges();
  const done = useStore(acts);
  const queue = useRef<Queue>({ waiting: [], running: 0, ended: false });
  const asked = useRef(new Set<string>());

  const work = useCallback(() => {
    const line = queue.current;
    while (!line.ended && line.running < AT_ONCE) {
      const name = line.waiting.shift();
      if (name === undefined) return;
      asked.current.add(name);
      line.running += 1;
      const keep = (found: Known) => {
        line.running -= 1;
        if (line.ended) return;
        setKnown((before) => new Map(before).set(name, found));
        work();
      };
      forecast({ door, database, collection: name }).then(
        (found) => keep({ forecast: found }),
        (error: unknown) => keep({ failure: words(error) }),
      );
    }
  }, [door, database]);

  useEffect(() => {
    queue.current = { waiting: [], running: 0, ended: false };
    const line = queue.current;
    return () => {
      line.ended = true;
    };
  }, []);
  useEffect(() => {
    asked.current.clear();
    setRound((before) => before + 1);
  }, [changes, done]);
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState !== 'visible') return;
      asked.current.clear();
      setRound((before) => before + 1);
    }, AGAIN_MS);
    return () => clearInterval(timer);
  }, []);

  /** Sets the visible rows; rows that were scrolled away are dropped from the queue. */
  const want = useCallback(
    (names: readonly string[]) => {
      queue.current.waiting = names.filter((name) => !asked.current.has(name));
      work();
    },
    [work],
  );
  return { known, round, want };
}
