// The grid's header: titles, sorting and widths of the columns.
import { type PointerEvent, useRef } from 'react';
import { titleOf } from '../../../pure/columns/columns';
import type { Placed } from '../../../pure/columns/layout';
import type { Sort } from '../sort';
import type { Tracks } from './tracks';

export interface HeadProps {
  id: string;
  columns: readonly Placed[];
  tracks: Tracks;
  /** Right-aligned columns. */
  numbers: ReadonlySet<string>;
  sort: Sort | null;
  /** Tooltip of a column heading about sorting. */
  tip: (column: string) => string;
  /** Index of the active column; null: none. */
  active: number | null;
  checked: 'none' | 'some' | 'all';
  onAll: () => void;
  onSort: (column: string) => void;
  onMenu: (column: string, at: { x: number; y: number }) => void;
  onWidth: (column: string, width: number | null) => void;
  onMove: (column: string, before: string | null) => void;
}

const DRAGGED = 'application/x-ebb-column';

/** Resize handle: dragging resizes the column, a double click resets it. */
function Edge({ column, onWidth }: { column: string } & Pick<HeadProps, 'onWidth'>) {
  const began = useRef<{ x: number; width: number } | null>(null);
  const down = (event: PointerEvent<HTMLElement>) => {
    if (event.button !== 0) return;
    event.preventDefault();
    event.stopPropagation();
    event.currentTarget.setPointerCapture(event.pointerId);
    const head = event.currentTarget.parentElement;
    began.current = { x: event.clientX, width: head?.getBoundingClientRect().width ?? 0 };
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: keys resize the heading itself.
    <span
      className="items-edge"
      title="Drag to resize; double-click to reset"
      onPointerDown={down}
      onPointerMove={(event) => {
        if (began.current === null) return;
        onWidth(column, began.current.width + event.clientX - began.current.x);
      }}
      onPointerUp={() => {
        began.current = null;
      }}
      onClick={(event) => event.stopPropagation()}
      onDoubleClick={(event) => {
        event.stopPropagation();
        onWidth(column, null);
      }}
    />
  );
}

type HeadCellProps = HeadProps & { place: number; column: Placed };

function HeadCell(props: HeadCellProps) {
  const { id, tracks, sort, tip, active, checked, place, column } = props;
  const pin = tracks.pins[place] ?? null;
  const isSorted = sort?.column === column.id;
  const title = titleOf(column.id);
  const classes = ['items-head-cell'];
  if (pin !== null) classes.push('items-pin');
  if (props.numbers.has(column.id)) classes.push('items-head-number');
  if (active === place) classes.push('items-cell-active');
  return (
    <span
      role="columnheader"
      id={`${id}-h${place}`}
      aria-colindex={place + 1}
      aria-sort={isSorted ? (sort.direction > 0 ? 'ascending' : 'descending') : undefined}
      aria-label={title}
      aria-description={tip(column.id)}
      title={`${title}: ${tip(column.id)}`}
      data-column={column.id}
      className={classes.join(' ')}
      style={pin === null ? undefined : { left: pin }}
      onClick={() => props.onSort(column.id)}
      onContextMenu={(event) => {
        event.preventDefault();
        event.stopPropagation();
        props.onMenu(column.id, { x: event.clientX, y: event.clientY });
      }}
      onDragOver={(event) => {
        if (event.dataTransfer.types.includes(DRAGGED)) event.preventDefault();
      }}
      onDrop={(event) => {
        event.preventDefault();
        props.onMove(event.dataTransfer.getData(DRAGGED), column.id);
      }}
    >
      {place === 0 && (
        // biome-ignore lint/a11y/noStaticElementInteractions: the checkbox is interactive.
        <span className="items-check" onClick={(event) => event.stopPropagation()}>
          <input
            type="checkbox"
            tabIndex={-1}
            aria-label="Select all loaded"
            checked={checked === 'all'}
            ref={(box) => {
              if (box !== null) box.indeterminate = checked === 'some';
            }}
            onChange={props.onAll}
          />
        </span>
      )}
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the column menu moves it too. */}
      <span
        className="items-head-name"
        draggable
        onDragStart={(event) => {
          event.dataTransfer.setData(DRAGGED, column.id);
          event.dataTransfer.effectAllowed = 'move';
        }}
      >
        {title}
      </span>
      {isSorted && <span aria-hidden="true">{sort.direction > 0 ? '↑' : '↓'}</span>}
      <button
        type="button"
        tabIndex={-1}
        className="items-head-menu"
        aria-label={`Column ${title}`}
        onClick={(event) => {
          event.stopPropagation();
          const box = event.currentTarget.getBoundingClientRect();
          props.onMenu(column.id, { x: box.left, y: box.bottom });
        }}
      >
        ⋮
      </button>
      <Edge column={column.id} onWidth={props.onWidth} />
    </span>
  );
}

export function Head(props: HeadProps) {
  return (
    <div role="row" aria-rowindex={1} className="items-row">
      {props.columns.map((column, place) => (
        <HeadCell key={column.id} {...props} column={column} place={place} />
      ))}
    </div>
  );
}
