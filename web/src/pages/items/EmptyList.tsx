// What stands in the list when nothing is in it, and what can be done about that.
import { Button } from '../../ui/Button';
import { transfer } from './transfer/request';

export interface EmptyListProps {
  noun: 'item' | 'document';
  /** Nothing is in the collection; else nothing fits what is asked for. */
  isAll: boolean;
  /** What was deleted is still there, and hidden. */
  isBinned: boolean;
  writable: boolean;
  onNew: () => void;
  /** Asks for everything. */
  onClear: () => void;
}

export function EmptyList(props: EmptyListProps) {
  const { noun, isAll, isBinned, writable, onNew, onClear } = props;
  const other = isBinned ? 'other ' : '';
  return (
    <div className="empty items-empty">
      <p>{isAll ? `There are no ${other}${noun}s.` : `No ${other}${noun} fits.`}</p>
      {isAll && !isBinned && writable && (
        <div className="row">
          <Button onClick={onNew}>Make the first {noun}</Button>
          <Button onClick={() => transfer.set({ kind: 'import', file: null })}>
            Import a file
          </Button>
        </div>
      )}
      {!isAll && <Button onClick={onClear}>Show all {noun}s</Button>}
    </div>
  );
}
