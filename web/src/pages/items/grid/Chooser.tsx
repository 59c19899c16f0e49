// Selects and orders the columns: a list beside the button that opens it.
import { type KeyboardEvent as KeyPress, useEffect, useId, useRef, useState } from 'react';
import { type Column, titleOf } from '../../../pure/columns/columns';
import { Button } from '../../../ui/Button';
import type { Columns } from './useColumns';

/** Further columns are found by searching. */
const MOST = 200;
const DRAGGED = 'application/x-ebb-column';

/** Describes a column: types, and the share of documents that have it. */
function about(column: Column | undefined): string {
  if (column === undefined || column.share === 0 || column.kinds.size === 0) return '';
  const kinds = [...column.kinds.keys()].slice(0, 3).join(', ');
  return `${kinds} · ${Math.max(1, Math.round(column.share * 100))} %`;
}

export interface ColumnListProps {
  columns: Columns;
  id: string;
  /** `byKey`: the focus returns to the button. */
  onClose: (byKey: boolean) => void;
}

/** The column list; a press outside and Escape close it. */
export function ColumnList({ columns, id, onClose }: ColumnListProps) {
  const [search, setSearch] = useState('');
  const frame = useRef<HTMLElement>(null);
  const field = useRef<HTMLInputElement>(null);
  const close = useRef(onClose);
  useEffect(() => {
    close.current = onClose;
  });
  useEffect(() => {
    field.current?.focus();
    // The button is beside it and does not count as outside.
    const both = frame.current?.parentElement;
    const outside = (event: PointerEvent) => {
      if (event.target instanceof Node && both?.contains(event.target) !== true)
        close.current(false);
    };
    const pressed = (event: KeyboardEvent) => {
      if (event.key !== 'Escape') return;
      event.preventDefault();
      event.stopPropagation();
      close.current(true);
    };
    window.addEventListener('pointerdown', outside);
    both?.addEventListener('keydown', pressed);
    return () => {
      window.removeEventListener('pointerdown', outside);
      both?.removeEventListener('keydown', pressed);
    };
  }, []);
  const known = new Map(columns.all.map((column) => [column.id, column]));
  const wanted = search.trim().toLowerCase();
  const found = columns.layout.filter(
    (placed) => known.has(placed.id) && titleOf(placed.id).toLowerCase().includes(wanted),
  );
  const shown = columns.drawn.length;
  const move = (event: KeyPress, at: number) => {
    const by = event.key === 'ArrowUp' ? -1 : event.key === 'ArrowDown' ? 1 : 0;
    const here = found[at];
    if (by === 0 || here === undefined) return;
    event.preventDefault();
    if (!event.altKey) {
      const boxes = frame.current?.querySelectorAll<HTMLElement>('li input');
      boxes?.[at + by]?.focus();
    } else if (by < 0 && found[at - 1] !== undefined) {
      columns.move(here.id, found[at - 1]?.id ?? null);
    } else if (by > 0) columns.move(here.id, found[at + 2]?.id ?? null);
  };
  return (
    <section className="items-columns" id={id} aria-label="Columns" ref={frame}>
      <input
        ref={field}
        type="search"
        aria-label="Search columns"
        placeholder="Search columns"
        value={search}
        onChange={(event) => setSearch(event.target.value)}
      />
      <p className="hint">Drag to reorder, or press Alt+↑ or Alt+↓.</p>
      <ul>
        {found.slice(0, MOST).map((placed, at) => (
          <li
            key={placed.id}
            draggable
            onDragStart={(event) => event.dataTransfer.setData(DRAGGED, placed.id)}
            onDragOver={(event) => {
              if (event.dataTransfer.types.includes(DRAGGED)) event.preventDefault();
            }}
            onDrop={(event) => {
              event.preventDefault();
              columns.move(event.dataTransfer.getData(DRAGGED), placed.id);
            }}
          >
            <label>
              <input
                type="checkbox"
                checked={placed.shown}
                disabled={placed.shown && shown === 1}
                onChange={() => columns.change(placed.id, { shown: !placed.shown })}
                onKeyDown={(event) => move(event, at)}
              />
              <span className="mono items-columns-name">{titleOf(placed.id)}</span>
            </label>
            <span className="hint">{about(known.get(placed.id))}</span>
          </li>
        ))}
      </ul>
      {found.length === 0 && <p className="hint">No matching columns.</p>}
      {found.length > MOST && <p className="hint">{found.length - MOST} more: search for them.</p>}
      <Button disabled={!columns.isChosen} onClick={columns.reset}>
        Reset
      </Button>
    </section>
  );
}

export function Chooser({ columns }: { columns: Columns }) {
  const [isOpen, setOpen] = useState(false);
  const frame = useRef<HTMLDivElement>(null);
  const id = useId();
  return (
    <div className="items-chooser" ref={frame}>
      <Button aria-expanded={isOpen} aria-controls={id} onClick={() => setOpen(!isOpen)}>
        Columns ({columns.drawn.length})
      </Button>
      {isOpen && (
        <ColumnList
          columns={columns}
          id={id}
          onClose={(byKey) => {
            setOpen(false);
            if (byKey) frame.current?.querySelector('button')?.focus();
          }}
        />
      )}
    </div>
  );
}
