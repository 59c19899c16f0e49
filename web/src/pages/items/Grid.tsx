// The grid of items: only the rows in sight are drawn, and only they are formatted each second.
import {
  type KeyboardEvent,
  memo,
  useCallback,
  useEffect,
  useId,
  useMemo,
  useRef,
  useState,
} from 'react';
import { useNow } from '../../state/server';
import { useWindowed } from '../../ui/useWindowed';
import { bothTimes, shownExpiry } from './expires';
import type { Row, Source } from './source';

const ROW = 38;
/** Of every column, and of Expires, which is the style sheet's. */
const [NARROW, WIDE] = ['7rem', 'var(--items-expires)'];
const NEAR = 60;

export interface GridProps {
  label: string;
  rows: readonly Row[];
  /** More may come behind the last. */
  open: boolean;
  source: Source;
  selected: string | null;
  /** Keys of rows whose text was changed and not saved. */
  drafted: ReadonlySet<string>;
  /** There is little room: the name and Expires alone. */
  slim: boolean;
  /** `byKey`: with the keyboard, so that the focus may go there. */
  onOpen: (row: Row, byKey: boolean) => void;
  onNearEnd: () => void;
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

/** Characters at the end of an id that stay in sight: where ids that are made one after the other differ. */
const TAIL = 8;
/** Scripts in which letters join or run the other way are not cut. */
const CUTTABLE = /^[ -~]{17,}$/;

const DRAFT = 'Changed and not saved: a draft is kept';

/** A name that is too long for its column loses characters of its middle. */
function Cell({ text, place, isDraft }: { text: string; place: number; isDraft: boolean }) {
  const isCut = place === 0 && CUTTABLE.test(text);
  const isMarked = place === 0 && isDraft;
  return (
    <span
      role="gridcell"
      aria-colindex={place + 1}
      aria-label={isCut || isMarked ? text : undefined}
      title={isCut ? text : undefined}
      className={isCut ? 'mono items-name' : 'mono'}
    >
      {isMarked && (
        <span className="items-draft" title={DRAFT} aria-hidden="true">
          ●{' '}
        </span>
      )}
      {isCut ? (
        <>
          <span className="items-name-start">{text.slice(0, -TAIL)}</span>
          <span>{text.slice(-TAIL)}</span>
        </>
      ) : (
        text
      )}
    </span>
  );
}

interface LineProps {
  row: Row;
  at: number;
  id: string;
  source: Source;
  columns: readonly string[];
  template: string;
  isSelected: boolean;
  isActive: boolean;
  isDraft: boolean;
  now: number | null;
  onPress: (row: Row, at: number) => void;
}

/** One row; scrolling past it does not draw it again. */
const Line = memo(function Line(props: LineProps) {
  const { row, at, id, source, columns, template, isSelected, isActive, isDraft, now, onPress } =
    props;
  return (
    <div
      role="row"
      id={id}
      aria-rowindex={at + 2}
      aria-selected={isSelected}
      aria-description={isDraft ? DRAFT : undefined}
      className={isActive ? 'items-row items-active' : 'items-row'}
      style={{ gridTemplateColumns: template }}
      onClick={() => onPress(row, at)}
    >
      {columns.map((column, place) => (
        <Cell key={column} text={source.cell(row, column)} place={place} isDraft={isDraft} />
      ))}
      <span role="gridcell" aria-colindex={columns.length + 1}>
        <Expires row={row} now={now} />
      </span>
    </div>
  );
});

/** Where a key leads from the row `at`; null: nowhere. */
function target(key: string, at: number, page: number, last: number): number | null {
  switch (key) {
    case 'ArrowDown':
      return Math.min(last, at + 1);
    case 'ArrowUp':
      return Math.max(0, at - 1);
    case 'PageDown':
      return Math.min(last, at + page);
    case 'PageUp':
      return Math.max(0, at - page);
    case 'Home':
      return 0;
    case 'End':
      return last;
    default:
      return null;
  }
}

export function Grid(props: GridProps) {
  const { label, rows, open, source, selected, drafted, slim, onOpen, onNearEnd } = props;
  const box = useRef<HTMLDivElement>(null);
  const id = useId();
  const exactly = useNow();
  const now = exactly === null ? null : Math.floor(exactly / 1000) * 1000;
  const { first, end, height, offset, scrollTo } = useWindowed(box, rows.length, ROW, ROW);
  const [active, setActive] = useState<{ key: string; at: number } | null>(null);
  // Rows above may have left: the active one is found again by its key, else by where it was.
  let at = Math.min(active?.at ?? 0, rows.length - 1);
  if (active !== null && rows[at]?.key !== active.key) {
    const found = rows.findIndex((row) => row.key === active.key);
    if (found >= 0) at = found;
  }
  useEffect(() => {
    if (end > rows.length - NEAR) onNearEnd();
  }, [end, rows.length, onNearEnd]);
  const columns = useMemo(
    () => source.columns(rows).slice(0, slim ? 1 : undefined),
    [source, rows, slim],
  );
  const opens = useRef(onOpen);
  useEffect(() => {
    opens.current = onOpen;
  });
  const press = useCallback((row: Row, index: number) => {
    setActive({ key: row.key, at: index });
    opens.current(row, false);
  }, []);
  const move = (event: KeyboardEvent) => {
    const row = rows[at];
    if (event.key === 'Enter' && row !== undefined) {
      event.preventDefault();
      onOpen(row, true);
      return;
    }
    const page = Math.max(1, Math.floor(((box.current?.clientHeight ?? 0) - ROW) / ROW) - 1);
    const to =
      active === null && event.key === 'ArrowDown'
        ? 0
        : target(event.key, at, page, rows.length - 1);
    const next = to === null ? undefined : rows[to];
    if (to === null || next === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    setActive({ key: next.key, at: to });
    scrollTo(to);
  };
  const template = `repeat(${columns.length}, minmax(${NARROW}, 1fr)) minmax(${WIDE}, 1.6fr)`;
  const minWidth = `calc(${columns.length} * ${NARROW} + ${WIDE})`;
  const isShown = rows.length > 0 && at >= first && at < end;
  return (
    <div
      className="items-grid"
      role="grid"
      aria-label={label}
      aria-rowcount={open ? -1 : rows.length + 1}
      aria-colcount={columns.length + 1}
      aria-activedescendant={isShown ? `${id}-${at}` : undefined}
      tabIndex={0}
      ref={box}
      onKeyDown={move}
    >
      <div role="rowgroup" className="items-head" style={{ minWidth }}>
        <div
          role="row"
          aria-rowindex={1}
          className="items-row"
          style={{ gridTemplateColumns: template }}
        >
          {[...columns, 'Expires'].map((column, index) => (
            <span role="columnheader" key={column} aria-colindex={index + 1}>
              {column}
            </span>
          ))}
        </div>
      </div>
      <div role="rowgroup" className="items-spacer" style={{ height, minWidth }}>
        <div
          role="presentation"
          className="items-window"
          style={{ transform: `translateY(${offset}px)` }}
        >
          {rows.slice(first, end).map((row, index) => (
            <Line
              key={row.key}
              row={row}
              at={first + index}
              id={`${id}-${first + index}`}
              source={source}
              columns={columns}
              template={template}
              isSelected={row.key === selected}
              isActive={first + index === at && active !== null}
              isDraft={drafted.has(row.key)}
              now={now}
              onPress={press}
            />
          ))}
        </div>
      </div>
    </div>
  );
}
