// Exports matching documents or selected rows to a file: format, progress, cancellation.
import { useEffect, useState } from 'react';
import { words } from '../../../api/http';
import { bytes, count, counted } from '../../../pure/figures/amount';
import { toast } from '../../../state/log';
import type { Target } from '../../../state/place';
import { useLeaveGuard } from '../../../state/router';
import { Button } from '../../../ui/Button';
import { Dialog } from '../../../ui/Dialog';
import type { Row } from '../source';
import { ExportOptions } from './ExportOptions';
import { ENDINGS, type ExportForm, TYPES } from './exportForm';
import type { What } from './exportPages';
import { isStreamed, MOST_BYTES, openSink } from './sink';
import { type Export, samplePaths, useExport } from './useExport';

export interface ExportDialogProps {
  target: Target;
  noun: 'item' | 'document';
  filter: string;
  /** null: all that match the filter. */
  rows: readonly Row[] | null;
  /** Number of documents; null: not known. */
  total: number | null;
  onClose: () => void;
}

const FIRST: ExportForm = {
  kind: 'lines',
  canonical: false,
  system: false,
  delimiter: ',',
  guard: true,
  paths: [],
};

function Progress(props: {
  work: Export;
  noun: string;
  total: number | null;
  onClose: () => void;
}) {
  const { work, noun, total, onClose } = props;
  const { documents, bytes: size, running, ended } = work.state;
  const isDone = ended?.kind === 'done';
  const most = Math.max(1, total ?? 0, documents);
  const known = isDone
    ? { max: 1, value: 1 }
    : total === null
      ? {}
      : { max: most, value: documents };
  const rate = work.pace === null ? '' : ` · ${counted(work.pace.rate, noun)} per second`;
  return (
    <>
      <progress className="transfer-progress" aria-label="Export progress" {...known} />
      <p>
        <strong>{counted(documents, noun)}</strong>
        {running && total !== null && ` of about ${count(most)}`}, {bytes(size)}
        {rate}
      </p>
      <div role="status">
        {ended?.kind === 'done' && <p>Saved as {ended.name}.</p>}
        {ended?.kind === 'stopped' && <p>Stopped. Nothing was saved.</p>}
        {ended?.kind === 'failed' && <p className="error">Nothing was saved: {ended.why}</p>}
      </div>
      <div className="row dialog-buttons">
        {running ? (
          <Button look="danger" onClick={work.stop}>
            Stop
          </Button>
        ) : (
          <Button key="close" autoFocus look="primary" onClick={onClose}>
            Close
          </Button>
        )}
      </div>
    </>
  );
}

function subject({ noun, filter, rows, total }: ExportDialogProps): string {
  if (rows !== null) return `${counted(rows.length, noun)}, as selected in the list.`;
  const many = total === null ? `${noun}s` : `${count(total)} ${noun}${total === 1 ? '' : 's'}`;
  return filter === '' ? `All ${many}.` : `The ${many} that match the filter.`;
}

export default function ExportDialog(props: ExportDialogProps) {
  const { target, noun, filter, rows, total, onClose } = props;
  const [form, setForm] = useState(FIRST);
  const [failure, setFailure] = useState<string | null>(null);
  const work = useExport(target);
  const { running, ended, documents } = work.state;
  const what: What = rows === null ? { filter } : { rows };
  useLeaveGuard(running);
  // biome-ignore lint/correctness/useExhaustiveDependencies: reported once, at the end.
  useEffect(() => {
    if (ended?.kind === 'done') toast({ text: `Exported ${counted(documents, noun)}` });
  }, [ended]);
  const put = (next: ExportForm) => {
    setForm(next);
    if (next.kind !== 'csv' || form.kind === 'csv') return;
    const paths = samplePaths(target, what, new AbortController().signal);
    paths.then(
      (found) => setForm((known) => ({ ...known, paths: found })),
      (error: unknown) => setFailure(words(error)),
    );
  };
  const begin = () => {
    setFailure(null);
    openSink(`${target.collection}.${ENDINGS[form.kind]}`, TYPES[form.kind]).then(
      (sink) => sink !== null && work.begin(what, form, sink),
      (error: unknown) => setFailure(words(error)),
    );
  };
  return (
    <Dialog
      title={`Export from ${target.database} › ${target.collection}`}
      onClose={() => !running && onClose()}
    >
      {running || ended !== null ? (
        <Progress work={work} noun={noun} total={rows?.length ?? total} onClose={onClose} />
      ) : (
        <>
          <p>{subject(props)}</p>
          <ExportOptions form={form} api={target.door} onForm={put} />
          {!isStreamed() && (
            <p className="hint">
              The browser keeps the export in memory until it is saved: at most {bytes(MOST_BYTES)}.
            </p>
          )}
          {failure !== null && (
            <p className="error" role="alert">
              {failure}
            </p>
          )}
          <div className="row dialog-buttons">
            <Button
              look="primary"
              disabled={form.kind === 'csv' && form.paths.length === 0}
              onClick={begin}
            >
              Export
            </Button>
            <Button onClick={onClose}>Cancel</Button>
          </div>
        </>
      )}
    </Dialog>
  );
}
