// A running export: writes page by page to a file, with progress and cancellation.
import { useEffect, useRef, useState } from 'react';
import { words } from '../../../api/http';
import type { Exporter } from '../../../pure/exporting/exporter';
import type { Target } from '../../../state/place';
import { documentExporter, type ExportForm, itemExporter, pathsOf } from './exportForm';
import { documentPages, itemPages, type What } from './exportPages';
import { type Mark, marked, type Pace, paceOf } from './pace';
import type { Sink } from './sink';

export interface ExportState {
  documents: number;
  bytes: number;
  running: boolean;
  ended:
    | { kind: 'done'; name: string }
    | { kind: 'stopped' }
    | { kind: 'failed'; why: string }
    | null;
}

export interface Export {
  state: ExportState;
  pace: Pace | null;
  begin: (what: What, form: ExportForm, sink: Sink) => void;
  stop: () => void;
}

const BEFORE: ExportState = { documents: 0, bytes: 0, running: false, ended: null };

async function write<T>(
  pages: AsyncGenerator<T[]>,
  exporter: Exporter<T>,
  sink: Sink,
  onPage: (documents: number, characters: number) => void,
): Promise<void> {
  await sink.write(exporter.begin());
  for await (const page of pages) {
    const text = page.map((document) => exporter.document(document)).join('');
    await sink.write(text);
    onPage(page.length, text.length);
  }
  await sink.write(exporter.end());
  await sink.close();
}

/** Writes everything requested to a sink. */
export async function runExport(
  target: Target,
  what: What,
  form: ExportForm,
  sink: Sink,
  signal: AbortSignal,
  onPage: (documents: number, characters: number) => void,
): Promise<void> {
  try {
    if (target.door === 'mongo') {
      await write(documentPages(target, what, signal), documentExporter(form), sink, onPage);
    } else await write(itemPages(target, what, signal), itemExporter(form), sink, onPage);
  } catch (error) {
    await sink.abort();
    throw error;
  }
}

/** Returns only the first page. */
async function firstOf<T>(pages: AsyncGenerator<T[]>): Promise<T[]> {
  const { value } = await pages.next();
  // Releases the server's cursor.
  await pages.return(undefined);
  return Array.isArray(value) ? value : [];
}

/** Returns the CSV columns derived from the first page. */
export async function samplePaths(
  target: Target,
  what: What,
  signal: AbortSignal,
): Promise<string[]> {
  if (target.door === 'mongo') {
    return pathsOf(await firstOf(documentPages(target, what, signal)), 'mongo');
  }
  const texts = await firstOf(itemPages(target, what, signal));
  return pathsOf(
    texts.map((text) => JSON.parse(text) as unknown),
    'nosql',
  );
}

export function useExport(target: Target): Export {
  const [state, setState] = useState(BEFORE);
  const [marks, setMarks] = useState<Mark[]>([]);
  const abort = useRef<AbortController | null>(null);
  useEffect(() => () => abort.current?.abort(), []);
  const begin = (what: What, form: ExportForm, sink: Sink) => {
    const turn = new AbortController();
    abort.current = turn;
    setMarks([]);
    setState({ ...BEFORE, running: true });
    let documents = 0;
    let bytes = 0;
    const onPage = (more: number, characters: number) => {
      documents += more;
      bytes += characters;
      setMarks((known) => marked(known, { atMs: performance.now(), documents, bytes }));
      setState({ ...BEFORE, documents, bytes, running: true });
    };
    const end = (ended: ExportState['ended']) =>
      setState((known) => ({ ...known, running: false, ended }));
    runExport(target, what, form, sink, turn.signal, onPage).then(
      () => end({ kind: 'done', name: sink.name }),
      (error: unknown) =>
        end(turn.signal.aborted ? { kind: 'stopped' } : { kind: 'failed', why: words(error) }),
    );
  };
  return {
    state,
    pace: state.running ? paceOf(marks, null) : null,
    begin,
    stop: () => abort.current?.abort(),
  };
}
