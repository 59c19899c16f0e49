// A running import: outcome counts, rate, and cancellation.
import { useEffect, useRef, useState } from 'react';
import { words } from '../../../api/http';
import { readContainer } from '../../../api/nosql';
import type { ImportForm } from '../../../pure/importing/file';
import type { Target } from '../../../state/place';
import type { Chosen } from './chosen';
import { type ImportState, NOTHING, runImport } from './importRun';
import { MongoWriter } from './mongoWriter';
import { NosqlWriter } from './nosqlWriter';
import { type Mark, marked, type Pace, paceOf } from './pace';
import type { OnExisting } from './writer';

export type Ended = { kind: 'done' } | { kind: 'stopped' } | { kind: 'failed'; why: string };

export interface Import {
  state: ImportState;
  /** The imported source; null before the start. */
  source: { file: Blob; form: ImportForm } | null;
  pace: Pace | null;
  running: boolean;
  /** null: not started or still running. */
  ended: Ended | null;
  begin: (chosen: Chosen, form: ImportForm, onExisting: OnExisting) => void;
  stop: () => void;
}

/** Throttle of the progress display. */
const SHOWN_EVERY_MS = 150;

export function writtenOf({ made, replaced, skipped, refused }: ImportState): number {
  return made + replaced + skipped + refused;
}

async function run(
  target: Target,
  chosen: Chosen,
  form: ImportForm,
  onExisting: OnExisting,
  signal: AbortSignal,
  onState: (state: ImportState) => void,
): Promise<void> {
  const common = { file: chosen.file, form, api: target.door, signal, onState };
  if (target.door === 'mongo') {
    await runImport({ ...common, writer: new MongoWriter(target, onExisting) });
    return;
  }
  const container = await readContainer(target.database, target.collection);
  await runImport({ ...common, writer: new NosqlWriter(target, container, onExisting) });
}

export function useImport(target: Target): Import {
  const [shown, show] = useState<{ state: ImportState; marks: Mark[] }>({
    state: NOTHING,
    marks: [],
  });
  const [running, setRunning] = useState(false);
  const [ended, setEnded] = useState<Ended | null>(null);
  const [source, setSource] = useState<Import['source']>(null);
  const abort = useRef<AbortController | null>(null);
  useEffect(() => () => abort.current?.abort(), []);
  const begin = (chosen: Chosen, form: ImportForm, onExisting: OnExisting) => {
    const turn = new AbortController();
    abort.current = turn;
    let latest = NOTHING;
    const put = () => {
      const { bytes } = latest;
      const mark = { atMs: performance.now(), documents: writtenOf(latest), bytes };
      show(({ marks }) => ({ state: latest, marks: marked(marks, mark) }));
    };
    const timer = setInterval(put, SHOWN_EVERY_MS);
    const end = (how: Ended) => {
      clearInterval(timer);
      put();
      setRunning(false);
      setEnded(how);
    };
    setSource({ file: chosen.file, form });
    show({ state: NOTHING, marks: [] });
    setEnded(null);
    setRunning(true);
    const keep = (state: ImportState) => {
      latest = state;
    };
    run(target, chosen, form, onExisting, turn.signal, keep).then(
      () => end({ kind: 'done' }),
      (error: unknown) =>
        end(turn.signal.aborted ? { kind: 'stopped' } : { kind: 'failed', why: words(error) }),
    );
  };
  return {
    state: shown.state,
    source,
    pace: running ? paceOf(shown.marks, source?.file.size ?? 0) : null,
    running,
    ended,
    begin,
    stop: () => abort.current?.abort(),
  };
}
