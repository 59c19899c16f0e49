// State of setting several defaults: previews, confirmation, and progress. Renders nothing.
import { useEffect, useRef, useState } from 'react';
import type { DefaultTtl } from '../../../api/admin';
import { words } from '../../../api/http';
import { say, toast } from '../../../state/log';
import { useRequest } from '../../../state/request';
import { server, useServerChanges } from '../../../state/server';
import { NOUNS } from '../ttl/impact';
import { haveMoved, type Looks, type Result, resultWords } from './looks';
import { lookAt, type Several, setDefault } from './setDefault';

const PAUSE_MS = 300;

export interface SeveralState {
  /** null: loading, or nothing to preview. */
  looks: Looks | null;
  failure: string | null;
  /** The previews have changed since the confirmation, so nothing was set. */
  hasMoved: boolean;
  results: ReadonlyMap<string, Result>;
  phase: 'before' | 'checking' | 'running' | 'ended';
  begin: () => Promise<void>;
  again: () => Promise<void>;
  stop: () => void;
}

export function useSeveral(several: Several, value: DefaultTtl | undefined): SeveralState {
  const { door, database, names } = several;
  const [looks, setLooks] = useState<Looks | null>(null);
  const [failure, setFailure] = useState<string | null>(null);
  const [hasMoved, setMoved] = useState(false);
  const [results, setResults] = useState<ReadonlyMap<string, Result>>(new Map());
  const [phase, setPhase] = useState<SeveralState['phase']>('before');
  const stopped = useRef(false);
  const changes = useServerChanges();
  const { send, cancel } = useRequest();
  // biome-ignore lint/correctness/useExhaustiveDependencies: a clock move outdates previews.
  useEffect(() => {
    setLooks(null);
    setMoved(false);
    setFailure(null);
    if (value === undefined || phase !== 'before') return;
    const ask = () =>
      send(
        (signal) => lookAt({ door, database, names }, value, signal),
        setLooks,
        (error) => setFailure(words(error)),
      );
    const timer = setTimeout(() => void ask(), PAUSE_MS);
    return () => {
      clearTimeout(timer);
      cancel();
    };
  }, [door, database, names, value, changes, send, cancel]);
  const runAll = async (some: readonly string[], to: DefaultTtl) => {
    stopped.current = false;
    setPhase('running');
    let known: ReadonlyMap<string, Result> = results;
    for (const collection of some) {
      if (stopped.current) break;
      const result = await setDefault({ door, database, collection }, to);
      known = new Map(known).set(collection, result);
      setResults(known);
    }
    setPhase('ended');
    const text = resultWords(known, NOUNS[door]);
    if ([...known.values()].some(({ kind }) => kind === 'failed')) say({ kind: 'failed', text });
    else toast({ text });
  };
  const begin = async () => {
    if (looks === null || value === undefined) return;
    setPhase('checking');
    setFailure(null);
    try {
      const now = await lookAt(several, value);
      const runs = server.get().status?.clock.mode !== 'manual';
      if (haveMoved(looks, now, runs)) {
        setLooks(now);
        setMoved(true);
        setPhase('before');
        return;
      }
    } catch (error) {
      setFailure(words(error));
      setPhase('before');
      return;
    }
    await runAll(names, value);
  };
  const again = async () => {
    const failed = names.filter((name) => results.get(name)?.kind !== 'set');
    if (value !== undefined) await runAll(failed, value);
  };
  const stop = () => {
    stopped.current = true;
  };
  return { looks, failure, hasMoved, results, phase, begin, again, stop };
}
