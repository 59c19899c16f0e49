// Shown instead of an empty list: why it is empty, and what to do.
import { Button } from '../../ui/Button';
import { transfer } from './transfer/request';

export interface EmptyListProps {
  noun: 'item' | 'document';
  /** The collection is empty; otherwise no document matches. */
  isAll: boolean;
  /** Deleted documents that can be restored are hidden. */
  isBinned: boolean;
  writable: boolean;
  onNew: () => void;
  /** Clears the filter. */
  onClear: () => void;
}

export function EmptyList(props: EmptyListProps) {
  const { noun, isAll, isBinned, writable, onNew, onClear } = props;
  const other = isBinned ? 'other ' : '';
  return (
    <div className="empty items-empty">
      <p>{isAll ? `There are no ${other}${noun}s.` : `No matching ${other}${noun}s.`}</p>
      {isAll && !isBinned && writable && (
        <div className="row">
          <Button onClick={onNew}>Create the first {noun}</Button>
          <Button onClick={() => transfer.set({ kind: 'import', file: null })}>
            Import a file
          </Button>
        </div>
      )}
      {!isAll && <Button onClick={onClear}>Show all {noun}s</Button>}
    </div>
  );
}
