// One row of the grid: cells, the checkbox in the first one, and the input of an edited cell.
import { memo, useMemo } from 'react';
import { EXPIRES } from '../../../pure/columns/columns';
import type { Placed } from '../../../pure/columns/layout';
import { typedText } from '../../../pure/values/bare';
import { isNumeric, kindOf } from '../../../pure/values/kind';
import { partsOfPath, valueAtPath } from '../../../pure/values/path';
import { visible } from '../../../pure/values/visible';
import { bothTimes, shownExpiry } from '../expires';
import { type Row, type Source, shownOf } from '../source';
import { CellEditor } from './CellEditor';

export const DRAFT = 'Unsaved changes, kept as a draft';
/** Label of a row that was just deleted. */
export const BINNED = 'Deleted: expires when its undo period ends';

export interface Editing {
  key: string;
  column: string;
  text: string;
  error: string | null;
  busy: boolean;
  /** Unique number of this edit. */
  turn: number;
}

export interface EditEvents {
  onType: (text: string) => void;
  /** Stays open until saved. */
  onSave: () => void;
  /** Saves, and moves to an adjacent cell. */
  onStep: (by: 1 | -1) => void;
  onLeft: (turn: number) => void;
  onCancel: () => void;
}

function Expires({ row, now }: { row: Row; now: number | null }) {
  const { at, left, near, reason } = shownExpiry(row.expiry, now);
  return (
    <span
      className={`items-expires items-near-${near}`}
      title={[at && bothTimes(at, row.expiry.expiresAtMs), reason].filter(Boolean).join(', ')}
    >
      {at !== '' && (
        <span>
          <span className="items-left">{left}</span> <span className="items-at">{at}</span>
        </span>
      )}
      {reason !== '' && <span className="items-reason">{reason}</span>}
    </span>
  );
}

/** Returns a cell's text, its short form, and its tooltip. */
function wordsOf(row: Row, column: string, source: Source, short: string | undefined) {
  const value = valueAtPath(shownOf(row), partsOfPath(column));
  const text = visible(source.shown(value));
  const typed = typedText(value) ?? (text.length > 12 ? text : undefined);
  const kind = kindOf(value);
  const look = isNumeric(kind) ? 'items-number' : kind === 'null' ? 'items-null' : '';
  if (column !== source.idField) return { text, whole: undefined, typed, look };
  // An id that is not a string is shown with its type.
  const name = row.name.startsWith('ObjectId') ? text : row.name;
  return { text: visible(short ?? name), whole: row.name, typed, look: '' };
}

export interface LineProps {
  row: Row;
  at: number;
  id: string;
  source: Source;
  columns: readonly Placed[];
  pins: readonly (number | null)[];
  /** The id shortened in the middle. */
  short: string | undefined;
  isOpen: boolean;
  isChecked: boolean;
  isActive: boolean;
  /** Index of the active cell; null: none. */
  cell: number | null;
  isDraft: boolean;
  isBinned: boolean;
  now: number | null;
  editing: Editing | null;
  edits: EditEvents;
}

interface CellProps {
  row: Row;
  source: Source;
  column: string;
  place: number;
  pin: number | null;
  /** Element id of the active cell. */
  id: string | undefined;
  short: string | undefined;
  isChecked: boolean;
  isDraft: boolean;
  /** Database time, only for the expiry column: other cells are not re-rendered every second. */
  now: number | null;
  editing: Editing | null;
  edits: EditEvents;
}

const Cell = memo(function Cell(props: CellProps) {
  const { row, source, column, place, pin, id, isChecked, isDraft, now, editing } = props;
  const isFirst = place === 0;
  const isExpiry = column === EXPIRES;
  const { text, whole, typed, look } = useMemo(
    () =>
      column === EXPIRES
        ? { text: '', whole: undefined, typed: undefined, look: '' }
        : wordsOf(row, column, source, props.short),
    [row, column, source, props.short],
  );
  const classes = [isExpiry ? '' : 'mono', look, pin === null ? '' : 'items-pin'].filter(Boolean);
  if (id !== undefined) classes.push('items-cell-active');
  if (editing !== null) classes.push('items-cell-edited');
  return (
    <span
      role="gridcell"
      id={id}
      aria-colindex={place + 1}
      aria-label={isFirst ? (whole ?? (text || undefined)) : undefined}
      title={whole ?? typed}
      data-place={place}
      data-column={column}
      className={classes.join(' ') || undefined}
      style={pin === null ? undefined : { left: pin }}
    >
      {isFirst && (
        <span className="items-check">
          <input
            type="checkbox"
            tabIndex={-1}
            aria-label={`Select ${row.name}`}
            checked={isChecked}
            readOnly
          />
        </span>
      )}
      {isFirst && isDraft && (
        <span className="items-draft" title={DRAFT} aria-hidden="true">
          ●{' '}
        </span>
      )}
      {editing !== null ? (
        <CellEditor editing={editing} {...props.edits} />
      ) : isExpiry ? (
        <Expires row={row} now={now} />
      ) : isFirst ? (
        <span className="items-name">{text}</span>
      ) : (
        text
      )}
    </span>
  );
});

/** Memoized: scrolling does not re-render rows. */
export const Line = memo(function Line(props: LineProps) {
  const { row, at, id, source, columns, pins, short, cell, now, editing, edits } = props;
  const { isOpen, isChecked, isActive, isDraft, isBinned } = props;
  return (
    <div
      role="row"
      id={id}
      aria-rowindex={at + 2}
      aria-selected={isChecked}
      aria-current={isOpen || undefined}
      aria-description={isBinned ? BINNED : isDraft ? DRAFT : undefined}
      title={isBinned ? BINNED : undefined}
      data-at={at}
      className={`items-row${isActive ? ' items-active' : ''}${isBinned ? ' items-binned' : ''}`}
    >
      {columns.map((column, place) => (
        <Cell
          key={column.id}
          row={row}
          source={source}
          column={column.id}
          place={place}
          pin={pins[place] ?? null}
          id={cell === place ? `${id}-c${place}` : undefined}
          short={short}
          isChecked={place === 0 && isChecked}
          isDraft={place === 0 && isDraft}
          now={column.id === EXPIRES ? now : null}
          editing={editing?.column === column.id ? editing : null}
          edits={edits}
        />
      ))}
    </div>
  );
});
