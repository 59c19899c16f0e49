// Import and export buttons, drag and drop of a file on the list, and the dialogs.
import { Suspense, useEffect, useRef } from 'react';
import type { Target } from '../../../state/place';
import { useStore } from '../../../state/store';
import { Button } from '../../../ui/Button';
import { part } from '../../../ui/part';
import { READ_ONLY } from '../source';
import { usePhone } from '../usePhone';
import { isAskedOf, transfer } from './request';
import './transfer.css';

const ImportDialog = part(() => import('./ImportDialog'));
const ExportDialog = part(() => import('./ExportDialog'));

export interface TransferButtonsProps {
  target: Target;
  noun: 'item' | 'document';
  writable: boolean;
  filter: string;
  /** Number of matches of the filter; null: not known. */
  total: number | null;
  onWritten: () => void;
}

/** Accepts a file dropped anywhere on the items page. */
function useDrop(writable: boolean) {
  const here = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    const list = here.current?.closest<HTMLElement>('.items');
    if (list == null || !writable) return;
    const isFile = (event: DragEvent) => event.dataTransfer?.types.includes('Files') === true;
    const over = (event: DragEvent) => {
      if (!isFile(event) || transfer.get() !== null) return;
      event.preventDefault();
      list.classList.add('transfer-over');
    };
    const leave = (event: DragEvent) => {
      const to = event.relatedTarget;
      if (!(to instanceof Node) || !list.contains(to)) list.classList.remove('transfer-over');
    };
    const drop = (event: DragEvent) => {
      list.classList.remove('transfer-over');
      const file = event.dataTransfer?.files[0];
      if (file === undefined || transfer.get() !== null) return;
      event.preventDefault();
      transfer.set({ kind: 'import', file });
    };
    list.addEventListener('dragover', over);
    list.addEventListener('dragleave', leave);
    list.addEventListener('drop', drop);
    return () => {
      list.removeEventListener('dragover', over);
      list.removeEventListener('dragleave', leave);
      list.removeEventListener('drop', drop);
    };
  }, [writable]);
  return here;
}

export function TransferButtons(props: TransferButtonsProps) {
  const { target, noun, writable, filter, total, onWritten } = props;
  const all = useStore(transfer);
  const asked = all !== null && isAskedOf(all, target) ? all : null;
  const here = useDrop(writable);
  // Phones have them in a menu.
  const isPhone = usePhone();
  const close = () => transfer.set(null);
  const { door, database, collection } = target;
  // A request of a page that was left must not open a dialog on the next.
  useEffect(
    () => () =>
      transfer.update((known) =>
        known !== null && isAskedOf(known, { door, database, collection }) ? null : known,
      ),
    [door, database, collection],
  );
  return (
    <span className="transfer-buttons" ref={here}>
      {!isPhone && (
        <>
          <Button
            disabled={!writable}
            title={writable ? 'A file can also be dropped on the list' : READ_ONLY}
            onClick={() => transfer.set({ kind: 'import', file: null })}
          >
            Import
          </Button>
          <Button onClick={() => transfer.set({ kind: 'export', rows: null })}>Export</Button>
        </>
      )}
      <Suspense fallback={null}>
        {asked?.kind === 'import' && (
          <ImportDialog
            target={target}
            noun={noun}
            file={asked.file}
            onWritten={onWritten}
            onClose={close}
          />
        )}
        {asked?.kind === 'export' && (
          <ExportDialog
            target={target}
            noun={noun}
            filter={filter}
            rows={asked.rows}
            total={total}
            onClose={close}
          />
        )}
      </Suspense>
    </span>
  );
}
