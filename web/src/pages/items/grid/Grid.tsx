// The virtualized grid of items: only visible rows are rendered, and only their countdowns are
// updated. The grid has the focus; a row, a cell or a column heading is active within it.
import {
  type CSSProperties,
  type KeyboardEvent,
  type MouseEvent,
  useEffect,
  useId,
  useMemo,
  useRef,
  useState,
} from 'react';
import { say } from '../../../state/log';
import { useNow } from '../../../state/server';
import { Menu, type MenuItem } from '../../../ui/Menu';
import { useToastRoom } from '../../../ui/useToastRoom';
import { useWindowed } from '../../../ui/useWindowed';
import { nextSort, type Sort } from '../sort';
import type { Row, Source } from '../source';
import { Head } from './Head';
import { headMenu, STEP, shift } from './headMenu';
import { led } from './keys';
import { Line } from './Line';
import { all, NOTHING, type Selected, stepped, toggled, upTo } from './selection';
import { arranged, tracksOf } from './tracks';
import { type SetField, useCellEdit } from './useCellEdit';
import type { Columns } from './useColumns';
import { useNames } from './useNames';

const ROW = 38;
const NEAR = 60;
/** Maximum delay of a double click, which edits a cell or opens the item's text. */
const TWICE_MS = 220;
const TO_CELLS = 'Right arrow moves to the cells of the row; F2 edits a cell.';
export interface GridProps {
  label: string;
  rows: readonly Row[];
  /** More rows may follow the last. */
  open: boolean;
  source: Source;
  columns: Columns;
  sort: Sort | null;
  tip: (column: string) => string;
  /** Key of the row that is open in the pane. */
  opened: string | null;
  selected: Selected;
  /** Keys of rows with a draft. */
  drafted: ReadonlySet<string>;
  /** Keys of deleted rows that can be restored. */
  binned: ReadonlyMap<string, number>;
  /** Whether space is short. */
  slim: boolean;
  /** `byKey`: opened by keyboard, so the pane may take the focus. */
  onOpen: (row: Row, byKey: boolean) => void;
  onNearEnd: () => void;
  onSort: (sort: Sort | null) => void;
  onSelect: (selected: Selected) => void;
  /** Copies a cell; column null: the row. */
  onCopy: (row: Row, column: string | null) => void;
  onDelete: (row: Row) => void;
  /** Why a cell cannot be edited; null: it can. */
  whyNotEdit: (row: Row, column: string) => string | null;
  setField: SetField;
  menu: (row: Row, column: string | null, edit: (() => void) | null) => MenuItem[];
}

interface Active {
  key: string | null;
  at: number;
  column: number | null;
}

/** Returns the index of the active row: by key if rows above were removed, else by index. */
function placeOf(active: Active | null, rows: readonly Row[]): number {
  if (active !== null && active.at < 0) return -1;
  const at = Math.max(0, Math.min(active?.at ?? 0, rows.length - 1));
  if (active === null || rows[at]?.key === active.key) return at;
  const found = rows.findIndex((row) => row.key === active.key);
  return found >= 0 ? found : at;
}

/** Returns the line of the first row: lines rotate while scrolling, and stay on jumps. */
function useFirstLine(first: number, lines: number): number {
  const known = useRef({ first: 0, from: 0 });
  const by = first - known.current.first;
  if (Math.abs(by) >= lines) known.current.from += by;
  known.current.first = first;
  return known.current.from % lines;
}

/** The modifiers that select rows instead of opening one. */
const isMany = (event: MouseEvent) => event.ctrlKey || event.metaKey || event.shiftKey;

type Shown = { items: MenuItem[]; label: string; x: number; y: number } | null;

export function Grid(props: GridProps) {
  const { label, rows, open, source, columns, sort, opened, selected, drafted, slim } = props;
  const { onOpen, onNearEnd, onSelect } = props;
  const box = useRef<HTMLDivElement>(null);
  const id = useId();
  const exactly = useNow();
  const now = exactly === null ? null : Math.floor(exactly / 1000) * 1000;
  const room = useToastRoom(box);
  const { first, end, height, offset, scrollTo } = useWindowed(box, rows.length, ROW, ROW, room);
  const [active, setActive] = useState<Active | null>(null);
  const [menu, setMenu] = useState<Shown>(null);
  const at = placeOf(active, rows);
  useEffect(() => {
    if (open && end > rows.length - NEAR) onNearEnd();
  }, [end, rows.length, open, onNearEnd]);
  const drawn = useMemo(() => arranged(columns.drawn, slim), [columns.drawn, slim]);
  const { needs } = props.columns;
  const tracks = useMemo(
    () => tracksOf(drawn, source.idField, slim, needs),
    [drawn, source, slim, needs],
  );
  // Line elements are reused for other rows, which is cheaper than creating them.
  const [lines, setLines] = useState(1);
  if (end - first > lines) setLines(end - first);
  const from = useFirstLine(first, lines);
  const inSight = useMemo(() => rows.slice(first, end), [rows, first, end]);
  const drawnLines = inSight.map((row, n) => ({
    row,
    index: first + n,
    line: (first - from + n + lines) % lines,
  }));
  const named = drawn.findIndex((column) => column.id === source.idField);
  const names = useNames(inSight, source, tracks.widths[named] ?? 0);
  const waiting = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(waiting.current), []);
  /** Target of the first click. */
  const once = useRef<{ row: Row; column: string | null } | null>(null);

  const cellOf = (place: number | null) => (place === null ? null : (drawn[place]?.id ?? null));
  const edit = useCellEdit(source, rows, {
    setField: props.setField,
    onEnd: () => box.current?.focus(),
    onStep: ({ key, column }, by) => {
      const row = rows.find((listed) => listed.key === key);
      let place = drawn.findIndex(({ id }) => id === column) + by;
      while (row !== undefined && drawn[place] !== undefined && !begin(row, cellOf(place)))
        place += by;
      if (row === undefined || drawn[place] === undefined) edit.end();
      else reveal(place);
    },
  });
  const begin = (row: Row, column: string | null) => {
    if (column === null || props.whyNotEdit(row, column) !== null) return false;
    clearTimeout(waiting.current);
    const place = drawn.findIndex(({ id }) => id === column);
    setActive({ key: row.key, at: rows.indexOf(row), column: place });
    edit.begin(row, column);
    return true;
  };
  const openHeadMenu = (column: string, where: { x: number; y: number }) => {
    const place = drawn.findIndex((placed) => placed.id === column);
    const width = tracks.widths[place] ?? 0;
    const items = headMenu({ columns, drawn, id: column, width, sort, onSort: props.onSort });
    setMenu({ items, label: `Column ${column}`, ...where });
  };
  const openRowMenu = (row: Row, column: string | null, where: { x: number; y: number }) => {
    const canEdit = column !== null && props.whyNotEdit(row, column) === null;
    const items = props.menu(row, column, canEdit ? () => begin(row, column) : null);
    setMenu({ items, label: `${source.noun} ${row.name}`, ...where });
  };
  const pressed = (event: MouseEvent) => {
    const within = event.target as Element;
    const line = within.closest<HTMLElement>('.items-window > .items-row');
    const index = Number(line?.dataset.at ?? -1);
    const row = rows[index];
    if (row === undefined) return null;
    const place = Number(within.closest<HTMLElement>('[role=gridcell]')?.dataset.place ?? -1);
    const isInEditor = within.closest('.items-cell-editor') !== null;
    return { row, index, place, isInEditor, isBox: within.closest('.items-check') !== null };
  };
  const click = (event: MouseEvent) => {
    const spot = pressed(event);
    if (spot === null || spot.isInEditor || event.button !== 0) return;
    const { row, index, place } = spot;
    setActive({ key: row.key, at: index, column: null });
    if (event.shiftKey) onSelect(upTo(selected, rows, row.key));
    else if (spot.isBox || isMany(event)) onSelect(toggled(selected, row.key));
    else {
      clearTimeout(waiting.current);
      if (event.detail > 1) return;
      const column = cellOf(place);
      once.current = { row, column };
      const isEditable = column !== null && props.whyNotEdit(row, column) === null;
      // The opening pane may cover the target of a second click, but never the first column.
      if (place === 0 && !isEditable) onOpen(row, false);
      else waiting.current = setTimeout(() => onOpen(row, false), TWICE_MS);
    }
  };
  const doubleClick = (event: MouseEvent) => {
    const spot = pressed(event);
    if (spot === null || spot.isBox || spot.isInEditor || isMany(event)) return;
    // Columns move when the pane opens, so the first click's target counts.
    const { row, column } = once.current ?? { row: spot.row, column: cellOf(spot.place) };
    clearTimeout(waiting.current);
    if (!begin(row, column)) onOpen(row, true);
  };
  const reveal = (place: number | null) => {
    const head = place === null ? null : document.getElementById(`${id}-h${place}`);
    const [grid, cell] = [box.current, head?.getBoundingClientRect()];
    if (grid === null || cell === undefined || place === null) return;
    if (tracks.pins[place] != null) return;
    const pinned = tracks.pins.reduce<number>(
      (sum, pin, n) => (pin === null ? sum : Math.max(sum, pin + (tracks.widths[n] ?? 0))),
      0,
    );
    const frame = grid.getBoundingClientRect();
    const [left, right] = [frame.left + pinned, frame.left + grid.clientWidth];
    if (cell.left < left) grid.scrollLeft -= left - cell.left;
    else if (cell.right > right) grid.scrollLeft += Math.min(cell.right - right, cell.left - left);
  };
  const goTo = (event: KeyboardEvent): boolean => {
    const page = Math.max(1, Math.floor(((box.current?.clientHeight ?? 0) - ROW) / ROW) - 1);
    const bounds = { lastRow: rows.length - 1, lastColumn: drawn.length - 1, page };
    // The first key press only makes the active row visible.
    const isFirst = active === null && event.key === 'ArrowDown' && rows.length > 0;
    const to = isFirst
      ? { at: 0, column: null }
      : led(event.key, { at, column: active?.column ?? null }, bounds);
    if (to === null || event.ctrlKey || event.metaKey || event.altKey) return false;
    const [from, next] = [rows[at], rows[to.at]];
    if (event.shiftKey && from !== undefined && next !== undefined)
      onSelect(stepped(selected, from.key, next.key));
    setActive({ key: next?.key ?? null, ...to });
    if (to.at >= 0) scrollTo(to.at);
    reveal(to.column);
    return true;
  };
  /** Handles a key on a column heading. */
  const headKey = (event: KeyboardEvent): boolean => {
    const column = cellOf(active?.column ?? null);
    if (at >= 0 || column === null) return false;
    const place = active?.column ?? 0;
    const isArrow = event.key === 'ArrowLeft' || event.key === 'ArrowRight';
    const by = event.key === 'ArrowLeft' ? -1 : 1;
    if (event.key === 'Enter' || event.key === ' ') props.onSort(nextSort(sort, column));
    else if (isArrow && event.shiftKey && event.ctrlKey) {
      shift(columns, drawn, column, by);
      setActive({ key: null, at: -1, column: Math.max(0, Math.min(drawn.length - 1, place + by)) });
    } else if (isArrow && event.shiftKey)
      columns.change(column, { width: (tracks.widths[place] ?? 0) + by * STEP });
    else return false;
    return true;
  };
  /** Handles a key on a row or cell. */
  const rowKey = (event: KeyboardEvent): boolean => {
    const row = rows[at];
    const isControl = event.ctrlKey || event.metaKey;
    const key = isControl ? `^${event.key.toLowerCase()}` : event.key;
    if (key === '^a') onSelect(all(rows));
    else if (key === 'Escape' && selected.keys.size > 0 && opened === null) onSelect(NOTHING);
    else if (row === undefined) return false;
    else if (key === '^c') {
      if (document.getSelection()?.isCollapsed === false) return false;
      props.onCopy(row, cellOf(active?.column ?? null));
    } else if (key === ' ') onSelect(toggled(selected, row.key));
    else if (key === 'Delete') props.onDelete(row);
    else if (key === 'F2' || key === 'Enter') {
      const column = cellOf(active?.column ?? null);
      if (begin(row, column)) return true;
      if (key === 'Enter') onOpen(row, true);
      else
        say({
          kind: 'note',
          text: column === null ? TO_CELLS : (props.whyNotEdit(row, column) ?? ''),
        });
    } else return false;
    return true;
  };
  const press = (event: KeyboardEvent) => {
    if (event.target !== event.currentTarget) return;
    if (headKey(event) || rowKey(event) || goTo(event)) event.preventDefault();
  };
  const contextMenu = (event: MouseEvent) => {
    // The context menu key fires on the grid itself.
    const spot = pressed(event);
    const row = spot?.row ?? rows[at];
    if (spot?.isInEditor === true) return;
    event.preventDefault();
    const column = cellOf(spot === null ? (active?.column ?? null) : spot.place);
    const shown = document.getElementById(activeId ?? '')?.getBoundingClientRect();
    const where =
      spot === null && shown !== undefined
        ? { x: shown.left + 24, y: shown.bottom }
        : { x: event.clientX, y: event.clientY };
    if (spot === null && at < 0 && column !== null) openHeadMenu(column, where);
    else if (row !== undefined) openRowMenu(row, column, where);
  };
  const isShown = at < 0 || (rows.length > 0 && at >= first && at < end);
  const place = active?.column ?? null;
  const rowId = `${id}-${at}`;
  const activeId = !isShown
    ? undefined
    : at < 0
      ? `${id}-h${place ?? 0}`
      : place === null
        ? rowId
        : `${rowId}-c${place}`;
  const chosen = selected.keys.size;
  const custom = { '--items-template': tracks.template, paddingBottom: room };
  return (
    <>
      <div
        className="items-grid"
        role="grid"
        aria-label={label}
        aria-multiselectable="true"
        aria-rowcount={open ? -1 : rows.length + 1}
        aria-colcount={drawn.length}
        aria-activedescendant={activeId}
        tabIndex={0}
        ref={box}
        style={custom as CSSProperties}
        onScroll={(event) => {
          const { currentTarget: grid } = event;
          grid.toggleAttribute('data-scrolled', grid.scrollLeft > 0);
        }}
        onKeyDown={press}
        onMouseDown={(event) => {
          // Shift selects a range of rows, not text.
          if (!event.shiftKey || pressed(event)?.isInEditor === true) return;
          event.preventDefault();
          box.current?.focus();
        }}
        onClick={click}
        onDoubleClick={doubleClick}
        onContextMenu={contextMenu}
      >
        <div role="rowgroup" className="items-head" style={{ minWidth: tracks.width }}>
          <Head
            id={id}
            columns={drawn}
            tracks={tracks}
            numbers={columns.numbers}
            sort={sort}
            tip={props.tip}
            active={at < 0 ? place : null}
            checked={chosen === 0 ? 'none' : chosen < rows.length ? 'some' : 'all'}
            onAll={() => onSelect(chosen < rows.length ? all(rows) : NOTHING)}
            onSort={(column) => props.onSort(nextSort(sort, column))}
            onMenu={openHeadMenu}
            onWidth={(column, width) => columns.change(column, { width })}
            onMove={columns.move}
          />
        </div>
        <div role="rowgroup" className="items-spacer" style={{ height, minWidth: tracks.width }}>
          <div
            role="presentation"
            className="items-window"
            style={{ transform: `translateY(${offset}px)` }}
          >
            {drawnLines.map(({ row, index, line }) => (
              <Line
                key={line}
                row={row}
                at={index}
                id={`${id}-${index}`}
                source={source}
                columns={drawn}
                pins={tracks.pins}
                short={names.get(row.key) || undefined}
                isOpen={row.key === opened}
                isChecked={selected.keys.has(row.key)}
                isActive={index === at && active !== null}
                cell={index === at ? place : null}
                isBinned={props.binned.has(row.key)}
                isDraft={drafted.has(row.key)}
                now={now}
                editing={edit.editing?.key === row.key ? edit.editing : null}
                edits={edit.edits}
              />
            ))}
          </div>
        </div>
      </div>
      {menu !== null && (
        <Menu label={menu.label} at={menu} items={menu.items} onClose={() => setMenu(null)} />
      )}
    </>
  );
}
