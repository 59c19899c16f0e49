// Progress and outcome of an import: rate, remaining time, refused documents.
import { bytes, count, counted } from '../../../pure/figures/amount';
import { Button } from '../../../ui/Button';
import { leftInWords } from './pace';
import { Refusals } from './Refusals';
import { type Ended, type Import, writtenOf } from './useImport';

export interface ImportProgressProps {
  work: Import;
  size: number;
  noun: 'item' | 'document';
  onClose: () => void;
}

function endInWords(ended: Ended, unknown: number): string {
  switch (ended.kind) {
    case 'done':
      return 'Import finished.';
    case 'stopped':
      return unknown === 0
        ? 'Stopped. Imported documents are kept.'
        : 'Stopped. Imported documents are kept; the last requests may have been applied too.';
    case 'failed':
      return `The import ended before the end of the file: ${ended.why} Imported documents are kept. To import the rest, import the file again and skip existing ids.`;
  }
}

export function ImportProgress({ work, size, noun, onClose }: ImportProgressProps) {
  const { state, pace, running, ended } = work;
  const parts = [
    `${count(state.made)} new`,
    ...(state.replaced > 0 ? [`${count(state.replaced)} replaced`] : []),
    ...(state.skipped > 0 ? [`${count(state.skipped)} skipped`] : []),
    ...(state.refused > 0 ? [`${count(state.refused)} refused`] : []),
  ];
  const going = [
    `${bytes(state.bytes)} of ${bytes(size)}`,
    ...(pace === null ? [] : [`${counted(pace.rate, noun)} per second`]),
    ...(pace === null || pace.left === null ? [] : [leftInWords(pace.left)]),
  ];
  return (
    <>
      <progress
        className="transfer-progress"
        aria-label="Import progress"
        max={Math.max(1, size)}
        value={ended?.kind === 'done' ? Math.max(1, size) : state.bytes}
      />
      <p>
        <strong>{counted(writtenOf(state), noun)}</strong>: {parts.join(', ')}
      </p>
      {running && <p className="hint">{going.join(' · ')}</p>}
      <div role="status">
        {ended !== null && (
          <p className={ended.kind === 'failed' ? 'error' : undefined}>
            {endInWords(ended, state.unknown)}
          </p>
        )}
      </div>
      <Refusals work={work} />
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
