// The virtualized rows of the tree; one of them is active.
import { ChevronDown, ChevronRight, Ellipsis, Table2 } from 'lucide-react';
import {
  type KeyboardEvent,
  type MouseEvent,
  useEffect,
  useId,
  useMemo,
  useRef,
  useState,
} from 'react';
import type { CollectionFacts } from '../../api/admin';
import { useWindowed } from '../../ui/useWindowed';
import { DOOR_NAMES } from '../dialogs';
import { Facts, inFull } from './Facts';
import { labelOf, parentOf, type Row, rowKey } from './rows';
import { useTypedLetters } from './useTypedLetters';

export const ROW_HEIGHT = 28;

export interface TreeViewProps {
  rows: readonly Row[];
  /** Index of the current page's row; -1: none. */
  selected: number;
  onOpen: (row: Row, open: boolean) => void;
  onChoose: (row: Row) => void;
  onActive: (row: Row | undefined) => void;
  onMenu: (row: Row, at: { x: number; y: number }) => void;
  onDelete: (row: Row) => void;
  /** Counts and defaults of collections by row key. */
  facts: ReadonlyMap<string, CollectionFacts>;
}

/** Tracks the active row by key, since rows appear and disappear above it. */
function useActive({ rows, selected, onActive }: TreeViewProps) {
  const [held, hold] = useState<{ key: string; at: number }>({ key: '', at: 0 });
  const chosen = rows[selected];
  const chosenKey = chosen === undefined ? '' : rowKey(chosen);
  // A new current page becomes the active row.
  // biome-ignore lint/correctness/useExhaustiveDependencies: `selected` alone changes when rows above come and go.
  useEffect(() => {
    if (chosenKey !== '') hold({ key: chosenKey, at: selected });
  }, [chosenKey]);
  const found = useMemo(() => rows.findIndex((row) => rowKey(row) === held.key), [rows, held.key]);
  const active = found >= 0 ? found : Math.min(held.at, rows.length - 1);
  const row = rows[active];
  const key = row === undefined ? '' : rowKey(row);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key identifies the row.
  useEffect(() => onActive(row), [key]);
  const move = (to: number) => {
    const next = rows[to];
    if (next !== undefined) hold({ key: rowKey(next), at: to });
  };
  return { active, move };
}

/** Returns the row that a key moves to; undefined: another key. */
function moved(
  key: string,
  rows: readonly Row[],
  active: number,
  height: number,
): number | undefined {
  const page = Math.max(1, Math.floor(height / ROW_HEIGHT) - 1);
  const to: Record<string, number> = {
    ArrowDown: active + 1,
    ArrowUp: active - 1,
    Home: 0,
    End: rows.length - 1,
    PageDown: active + page,
    PageUp: active - page,
  };
  const wanted = to[key];
  return wanted === undefined ? undefined : Math.max(0, Math.min(rows.length - 1, wanted));
}

export function TreeView(props: TreeViewProps) {
  const { rows, selected, onOpen, onChoose, onMenu, onDelete, facts } = props;
  const box = useRef<HTMLDivElement>(null);
  const id = useId();
  const shown = useWindowed(box, rows.length, ROW_HEIGHT);
  const { active, move } = useActive(props);
  const letters = useTypedLetters();
  const { scrollTo } = shown;
  // biome-ignore lint/correctness/useExhaustiveDependencies: `scrollTo` is new in every render.
  useEffect(() => {
    if (active >= 0) scrollTo(active);
  }, [active]);

  const sideways = (row: Row, right: boolean) => {
    const isOpen = row.kind === 'database' && row.open;
    if (row.kind === 'database' && isOpen !== right) onOpen(row, right);
    else if (isOpen && rows[active + 1]?.kind !== 'database') move(active + 1);
    else if (!right) move(parentOf(rows, active));
  };
  const menuAt = (row: Row) => {
    const line = document.getElementById(`${id}-${rowKey(row)}`)?.getBoundingClientRect();
    onMenu(row, { x: (line?.left ?? 0) + 24, y: line?.bottom ?? 0 });
  };
  const press = (event: KeyboardEvent) => {
    const row = rows[active];
    if (row === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    const to = moved(event.key, rows, active, box.current?.clientHeight ?? 0);
    const isLetter = event.key.length === 1 && event.key !== ' ';
    if (!isLetter) letters.reached(false);
    if (to !== undefined) move(to);
    else if (event.key === 'ArrowRight' || event.key === 'ArrowLeft') {
      sideways(row, event.key === 'ArrowRight');
    } else if (event.key === 'Enter' || event.key === ' ') onChoose(row);
    else if (event.key === 'Delete') onDelete(row);
    else if (event.key === 'ContextMenu' || (event.key === 'F10' && event.shiftKey)) menuAt(row);
    // Names cannot start with these, and they are global shortcuts.
    else if (event.key === '/' || event.key === '?') return;
    else if (isLetter) {
      const found = letters.find(event.key, rows, active, event.timeStamp);
      if (found === null) return;
      move(found);
    } else return;
    event.preventDefault();
  };
  const activeRow = active >= shown.first && active < shown.end ? rows[active] : undefined;
  return (
    <div
      ref={box}
      className="tree"
      role="tree"
      aria-label="Databases and containers"
      tabIndex={0}
      aria-activedescendant={activeRow === undefined ? undefined : `${id}-${rowKey(activeRow)}`}
      onKeyDown={press}
    >
      <div role="none" className="tree-space" style={{ height: shown.height }}>
        <div role="none" style={{ transform: `translateY(${shown.offset}px)` }}>
          {rows.slice(shown.first, shown.end).map((row, index) => (
            <TreeLine
              key={rowKey(row)}
              id={`${id}-${rowKey(row)}`}
              row={row}
              facts={facts.get(rowKey(row))}
              selected={shown.first + index === selected}
              active={shown.first + index === active}
              onPress={() => {
                letters.reached(true);
                move(shown.first + index);
                onChoose(row);
              }}
              onTwist={() => onOpen(row, !(row.kind === 'database' && row.open))}
              onMenu={(event) => {
                event.preventDefault();
                move(shown.first + index);
                onMenu(row, { x: event.clientX, y: event.clientY });
              }}
            />
          ))}
        </div>
      </div>
    </div>
  );
}

interface TreeLineProps {
  id: string;
  row: Row;
  facts: CollectionFacts | undefined;
  selected: boolean;
  active: boolean;
  onPress: () => void;
  onTwist: () => void;
  onMenu: (event: MouseEvent) => void;
}

function TreeLine({ id, row, facts, selected, active, onPress, onTwist, onMenu }: TreeLineProps) {
  const isDatabase = row.kind === 'database';
  const label = labelOf(row);
  return (
    <div
      id={id}
      role="treeitem"
      className={`tree-row tree-${row.kind} ${active ? 'active' : ''}`}
      aria-level={isDatabase ? 1 : 2}
      aria-expanded={isDatabase ? row.open : undefined}
      aria-selected={selected}
      aria-posinset={row.kind === 'note' ? 1 : row.at}
      aria-setsize={row.kind === 'note' ? 1 : row.of}
      aria-label={isDatabase ? undefined : label}
      aria-description={facts === undefined ? undefined : inFull(facts)}
      onClick={onPress}
      onContextMenu={onMenu}
    >
      {isDatabase && (
        <span
          className="tree-twist"
          aria-hidden="true"
          onClick={(event) => {
            event.stopPropagation();
            onTwist();
          }}
        >
          {row.open ? <ChevronDown className="icon" /> : <ChevronRight className="icon" />}
        </span>
      )}
      {row.kind === 'collection' && <Table2 className="icon tree-icon" />}
      <span
        className={`tree-name${row.kind === 'note' && row.failed ? ' error' : ''}`}
        title={facts === undefined ? label : `${label}\n${inFull(facts)}`}
      >
        {label}
      </span>
      {facts !== undefined && <Facts facts={facts} />}
      {/* The space separates the two for screen readers. */}
      {isDatabase && ' '}
      {isDatabase && <span className={`badge ${row.door}`}>{DOOR_NAMES[row.door]}</span>}
      {row.kind !== 'note' && (
        <span
          className="tree-more"
          aria-hidden="true"
          title="Actions"
          onClick={(event) => {
            event.stopPropagation();
            onMenu(event);
          }}
        >
          <Ellipsis className="icon" />
        </span>
      )}
    </div>
  );
}
