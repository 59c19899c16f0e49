// Creates the source of a collection from its properties, and polls its number of live documents;
// reloaded when the server may have changed.
import { useCallback, useEffect, useRef, useState } from 'react';
import * as admin from '../../api/admin';
import { ApiError, words } from '../../api/http';
import * as nosql from '../../api/nosql';
import type { Target } from '../../state/place';
import { useServerChanges } from '../../state/server';
import { MongoSource } from './mongoSource';
import { NosqlSource } from './nosqlSource';
import type { Source } from './source';

const AGAIN_MS = 5000;

export interface SourceState {
  /** A new object when the default or definition changes. */
  source: Source | null;
  missing: boolean;
  failure: string | null;
  /** Number of live documents; null: not known. */
  live: number | null;
  refresh: () => void;
}

type Made = Omit<SourceState, 'refresh'> & { signature: string };

const NOTHING: Made = { source: null, missing: false, failure: null, live: null, signature: '' };

async function perDocument(): Promise<boolean> {
  try {
    return (await admin.readFeatures()).per_document_ttl.on;
  } catch {
    return true;
  }
}

/** Returns a source factory with a signature of the properties that it depends on. */
async function make(
  target: Target,
): Promise<{ live: number; signature: string; source: () => Source }> {
  if (target.door === 'mongo') {
    // In parallel: on a slow connection round trips dominate.
    const [forecast, on] = await Promise.all([admin.forecast(target), perDocument()]);
    const live = forecast.live.documents;
    const signature = JSON.stringify([forecast.default, on]);
    return { live, signature, source: () => new MongoSource(target, forecast.default, on) };
  }
  const [forecast, container] = await Promise.all([
    admin.forecast(target),
    nosql.readContainer(target.database, target.collection),
  ]);
  const live = forecast.live.documents;
  return { live, signature: container._etag, source: () => new NosqlSource(target, container) };
}

export function useSource(target: Target): SourceState {
  const [made, setMade] = useState<Made>(NOTHING);
  const changes = useServerChanges();
  const asking = useRef(0);
  const unanswered = useRef(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a target is identified by its names.
  const refresh = useCallback(() => {
    asking.current += 1;
    const turn = asking.current;
    unanswered.current += 1;
    make(target)
      .finally(() => {
        unanswered.current -= 1;
      })
      .then(
        ({ live, signature, source }) => {
          if (turn !== asking.current) return;
          setMade((known) => {
            const same = known.source !== null && known.signature === signature;
            if (same && known.live === live && known.failure === null && !known.missing)
              return known;
            const kept = same ? known.source : source();
            return { source: kept, missing: false, failure: null, live, signature };
          });
        },
        (error: unknown) => {
          if (turn !== asking.current) return;
          const missing = error instanceof ApiError && error.status === 404;
          const failure = missing ? null : words(error);
          setMade((known) => ({ ...known, missing, failure, live: missing ? null : known.live }));
        },
      );
  }, [target.door, target.database, target.collection]);
  useEffect(() => {
    refresh();
    const timer = setInterval(() => {
      // Not while a request is pending.
      if (document.visibilityState === 'visible' && unanswered.current === 0) refresh();
    }, AGAIN_MS);
    return () => clearInterval(timer);
  }, [refresh, changes]);
  // Responses after unmounting are ignored.
  useEffect(
    () => () => {
      asking.current += 1;
    },
    [],
  );
  return { ...made, refresh };
}
