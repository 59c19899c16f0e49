// Saves results as a file in a chosen format: those read so far, or all.
import { useEffect, useRef, useState } from 'react';
import { words } from '../../../api/http';
import { count as amount, counted } from '../../../pure/figures/amount';
import { toast, warn } from '../../../state/log';
import { Button } from '../../../ui/Button';
import { Menu, type MenuItem } from '../../../ui/Menu';
import type { Run } from '../run';
import { ENDINGS, FORMATS, type Format, fileOf, type Results } from './form';
import { readAll } from './readAll';

export interface DownloadProps {
  /** Returns all results read so far. */
  results: () => Results | null;
  count: number;
  /** Runs the query again to read all results; null: all were read, or it cannot be repeated. */
  startAll: (() => Run) | null;
  /** File name without extension. */
  name: string;
}

function save(name: string, parts: string[]): void {
  const address = URL.createObjectURL(new Blob(parts, { type: 'application/octet-stream' }));
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  // The browser reads the URL asynchronously.
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

/** Reads all results for a file. Cancelled when the page is left. */
function useReading() {
  /** Number of results read; null: not reading. */
  const [read, setRead] = useState<number | null>(null);
  const abort = useRef<AbortController | null>(null);
  useEffect(() => () => abort.current?.abort(), []);
  const begin = (start: () => Run, onAll: (all: Results) => void) => {
    const turn = new AbortController();
    abort.current = turn;
    setRead(0);
    Promise.resolve()
      .then(() => readAll(start(), turn.signal, setRead))
      .then((all) => all !== null && onAll(all))
      .catch((error: unknown) => {
        if (!turn.signal.aborted) warn(`Nothing was downloaded: ${words(error)}`);
      })
      .finally(() => setRead(null));
  };
  return { read, begin, stop: () => abort.current?.abort() };
}

export function Download({ results, count, startAll, name }: DownloadProps) {
  const [at, setAt] = useState<{ x: number; y: number } | null>(null);
  const { read, begin, stop } = useReading();
  const keep = (all: Results, format: Format) => {
    const file = `${name}.${ENDINGS[format]}`;
    save(file, [...fileOf(all, format)]);
    toast({ text: `Downloaded ${counted(all.rows.length, 'result')} as ${file}.` });
  };
  const choose = (format: Format) => {
    const all = results();
    if (all !== null) keep(all, format);
  };
  const items: MenuItem[] = [
    ...(startAll === null
      ? []
      : FORMATS.map((format) => ({
          label: `All results as ${format}`,
          onChoose: () => begin(startAll, (all) => keep(all, format)),
        }))),
    ...FORMATS.map((format) => ({
      label: `${startAll === null ? '' : 'Only '}${counted(count, 'result')} as ${format}`,
      onChoose: () => choose(format),
    })),
  ];
  if (read !== null)
    return (
      <>
        <span className="hint" role="status">
          Reading all results: {amount(read)}
        </span>
        <Button look="quiet" onClick={stop}>
          Stop
        </Button>
      </>
    );
  return (
    <>
      <Button
        look="quiet"
        disabled={count === 0}
        aria-haspopup="menu"
        aria-expanded={at !== null}
        onClick={(event) => {
          const { left, bottom } = event.currentTarget.getBoundingClientRect();
          setAt({ x: left, y: bottom + 4 });
        }}
      >
        Download
      </Button>
      {at !== null && <Menu label="Download" at={at} onClose={() => setAt(null)} items={items} />}
    </>
  );
}
