// The items view: filter, grid, and the open item beside it.
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { ApiError } from '../../api/http';
import { mayWrite, session } from '../../api/session';
import { counted } from '../../pure/figures/amount';
import { drafts } from '../../state/draft';
import type { Target } from '../../state/place';
import { setQueries, setQuery, usePlace } from '../../state/router';
import { askAgain, databaseNow } from '../../state/server';
import { useStore } from '../../state/store';
import { Button } from '../../ui/Button';
import { Failure } from '../../ui/Failure';
import { FailureBanner } from '../../ui/FailureBanner';
import { isAdrift } from '../../ui/focusKeeper';
import { useMedia } from '../../ui/useMedia';
import { isAboutFilter, type RejectedFilter, wrongWords } from './aboutFilter';
import { draftOf, useDrafted } from './drafts';
import { EmptyList } from './EmptyList';
import { FilterBox } from './FilterBox';
import { Grid } from './grid/Grid';
import { rowMenu } from './grid/rowMenu';
import { listed, NOTHING, toggled } from './grid/selection';
import { useColumns } from './grid/useColumns';
import ItemPane, { type Focus } from './ItemPane';
import { ItemsBar } from './ItemsBar';
import './grid/grid.css';
import './items.css';
import { BinNote } from './many/BinNote';
import { useBin } from './many/bin';
import './many/many.css';
import { Missing } from './Missing';
import { SelectionBar } from './many/SelectionBar';
import { useMany } from './many/useMany';
import { completedMongoFilter } from './mongoFilter';
import { completedFilter } from './nosqlFilter';
import { quickly, quickOf } from './quick';
import { rowActions } from './rowActions';
import { type Sort, sortRows, sortText } from './sort';
import type { Row } from './source';
import { TransferButtons } from './transfer/TransferButtons';
import type { UndoEvents } from './undo';
import { useItemsCommands } from './useItemsCommands';
import { useMatching } from './useMatching';
import { useNews } from './useNews';
import { useOrder } from './useOrder';
import { usePhone } from './usePhone';
import { useRows } from './useRows';
import { useSource } from './useSource';

/** A longer key would make a URL that servers refuse. */
const LONGEST_KEY = 2000;

/** Returns the key of a row for the URL; null if it is too long. */
function addressOf(row: Row | null): string | null {
  return row === null || row.key.length > LONGEST_KEY ? null : row.key;
}

/** The open pane: a row, a new item, or none. */
type Shown = { row: Row | null; copy: string | null; turn: number; focus: Focus } | null;

/** Windows in which the item covers the list, as in items.css. */
const OVER = '(max-width: 900px), (max-height: 560px)';

export default function Items({ target }: { target: Target }) {
  const writable = mayWrite(useStore(session));
  const { query } = usePlace();
  const complete = target.door === 'nosql' ? completedFilter : completedMongoFilter;
  const filter = complete(query.get('filter') ?? '');
  const linked = query.get('item');
  const { source, missing, failure, live, refresh: refreshSource } = useSource(target);
  const matching = useMatching(source, filter);
  const { forget } = matching;
  /** Reloads the properties of the collection. */
  const refresh = useCallback(() => {
    forget();
    refreshSource();
  }, [forget, refreshSource]);
  const [died, setDied] = useState('');
  const onDeaths = useCallback(
    (n: number) => {
      setDied(
        `${counted(n, target.door === 'mongo' ? 'document' : 'item')} expired and left the list.`,
      );
      refresh();
    },
    [refresh, target.door],
  );
  const order = useOrder(source, filter, query.get('sort'));
  const rows = useRows(source, filter, order.asked, onDeaths);
  // After a 404, check at once whether the collection still exists.
  const isGone = rows.failure instanceof ApiError && rows.failure.status === 404;
  useEffect(() => {
    if (isGone) refresh();
  }, [isGone, refresh]);
  // Links, exports and bulk changes refer to the listed rows: a filter that the server refuses is
  // removed from the URL and stays only in the filter box.
  const [rejected, reject] = useState<RejectedFilter | null>(null);
  const { instead, failure: refusal } = rows;
  if (rejected !== null && ![rejected.text, rejected.applied].includes(filter)) reject(null);
  useEffect(() => {
    if (instead === null) return;
    reject({ text: filter, why: wrongWords(refusal, true), applied: instead });
    setQuery('filter', instead);
  }, [instead, refusal, filter]);
  const quick = quickOf(query.get('show'));
  const isPhone = usePhone();
  const isOver = useMedia(OVER);
  const list = useRef<HTMLDivElement>(null);
  const [shown, setShown] = useState<Shown>(null);
  const drafted = useDrafted(target);
  const escaped = useRef(false);
  const { sort } = order;
  const isLocal = sort !== null && (order.asked === null || rows.unsorted !== null);
  const columns = useColumns(target, source, rows.rows);
  const [chosen, choose] = useState(NOTHING);
  const bin = useBin(target);
  const [binShown, showBin] = useState(false);
  const visible = useMemo(() => {
    const fit = quickly(rows.rows, quick, databaseNow() ?? 0);
    const some = binShown || bin.size === 0 ? fit : fit.filter(({ key }) => !bin.has(key));
    return !isLocal || source === null ? some : sortRows(some, sort, source);
  }, [rows.rows, quick, sort, isLocal, source, bin, binShown]);
  const selected = useMemo(() => listed(chosen, visible), [chosen, visible]);
  // The URL names the open item, and going back closes it. A new item has no URL. After a click on
  // a query result nothing has the focus.
  useEffect(() => {
    if (source === null) return;
    setShown((known) => {
      if (addressOf(known?.row ?? null) === linked) return known;
      const row = linked === null ? null : source.rowOf(linked);
      return row === null
        ? null
        : { row, copy: null, focus: isAdrift() ? 'heading' : null, turn: (known?.turn ?? 0) + 1 };
    });
  }, [source, linked]);
  // Callbacks of a pane that has been closed must not change the current one.
  const now = useRef<Shown>(null);
  useEffect(() => {
    now.current = shown;
    return () => {
      now.current = null;
    };
  }, [shown]);
  const isShown = (pane: Shown) => pane !== null && now.current?.turn === pane.turn;
  const open = (row: Row | null, focused: boolean, copy: string | null = null) => {
    // An open item stays as it is: the delayed click may arrive while the user types in it.
    if (row !== null && !focused && now.current?.row?.key === row.key) return;
    const focus = focused ? 'text' : isOver ? 'heading' : null;
    setShown((known) => ({ row, copy, focus, turn: (known?.turn ?? 0) + 1 }));
    setQuery('item', addressOf(row), shown === null && row !== null);
  };
  const close = () => {
    // The list may be hidden while the item covers it.
    flushSync(() => setShown(null));
    setQuery('item', null);
    list.current?.querySelector<HTMLElement>('[role=grid]')?.focus();
  };
  const news = useNews({ source, filter, rows, hidden: bin, live });
  const many = useMany(target, source, filter, {
    rows,
    refresh: () => {
      refresh();
      news.forget();
    },
    onDeleted: (keys) => {
      choose(NOTHING);
      if (now.current?.row != null && keys.has(now.current.row.key)) close();
    },
  });
  const onNew = source !== null && writable ? () => open(null, true) : null;
  const reload = () => {
    forget();
    news.forget();
    rows.reload();
  };
  const onCount = filter === '' ? null : matching.ask;
  useItemsCommands(target, { onNew, isOpen: shown !== null, onRefresh: reload, onCount });
  if (source === null) {
    if (missing)
      return (
        <div className="items">
          <Missing target={target} />
        </div>
      );
    return failure === null ? (
      <p className="empty">Loading…</p>
    ) : (
      <div className="items">
        <FailureBanner words={failure} />
      </div>
    );
  }
  const { noun } = source;
  const Noun = noun === 'item' ? 'Item' : 'Document';
  const { cursor, failure: unread } = rows;
  const ready = rows.ready && unread === null;
  const wrongFilter = unread !== null && isAboutFilter(unread, filter) ? unread : null;
  const hidden =
    binShown || bin.size === 0 ? 0 : rows.rows.filter(({ key }) => bin.has(key)).length;
  const loaded = {
    noun,
    rows: rows.rows.length - hidden,
    filtered: filter !== '',
    open: cursor !== null,
    // Deleted documents are live until they expire, but are not listed.
    live: live === null ? null : Math.max(0, live - bin.size),
    matching: matching.count,
    ready,
  };
  const changes: UndoEvents = {
    target,
    onRead: (row) => {
      rows.renew([row]);
      news.seen(row.key);
      refresh();
      // The page may have been left since, and another one may show the row.
      if (list.current === null) askAgain();
      const pane = now.current;
      // Reloads the open item unless it has a draft.
      if (pane?.row?.key === row.key && !drafts.get().has(draftOf(target, row.key)))
        setShown({ ...pane, row, turn: pane.turn + 1, focus: null });
    },
    onGone: (key) => {
      rows.remove(key);
      news.seen(key);
      refresh();
    },
  };
  const onCopy = (text: string) => open(null, true, text);
  const actions = rowActions(source, { ...changes, writable, onCopy });
  const picked =
    selected.keys.size === 0 ? [] : visible.filter(({ key }) => selected.keys.has(key));
  /** Rows of a key press or menu: the selection, if it contains the row. */
  const some = (row: Row) => (selected.keys.has(row.key) ? picked : [row]);
  return (
    <div className="items">
      {missing && <Missing target={target} />}
      <FailureBanner words={failure} />
      <FilterBox
        target={target}
        hint={source.filterHint}
        example={source.filterExample}
        value={filter}
        check={source.wrongFilter}
        error={wrongFilter === null ? null : wrongWords(wrongFilter, rows.instead !== null)}
        rejected={rejected?.applied === filter ? rejected : null}
        complete={complete}
        onApply={(text) => (text === filter ? reload() : setQuery('filter', text, true))}
        onLeave={() => list.current?.querySelector<HTMLElement>('[role=grid]')?.focus()}
      />
      {rows.failure !== null && wrongFilter === null && !missing && (
        <Failure error={rows.failure} target={target} onAgain={reload} />
      )}
      {matching.failure !== null && <Failure error={matching.failure} target={target} />}
      <ItemsBar
        writable={writable}
        rows={rows}
        loaded={loaded}
        matching={matching}
        quick={quick}
        visible={visible.length}
        transfer={
          <TransferButtons
            target={target}
            noun={noun}
            writable={writable}
            filter={filter}
            total={filter === '' ? live : matching.count}
            onWritten={reload}
          />
        }
        onNew={() => open(null, true)}
        onRefresh={reload}
        onQuick={(next) => setQuery('show', next === 'all' ? null : next, true)}
        columns={columns}
        many={many}
        bin={bin.size > 0 && <BinNote target={target} isShown={binShown} onShow={showBin} />}
      />
      <div role="status">
        {news.words !== null && rows.ready && (
          <p className="items-news">
            Other clients have {news.words}. <Button onClick={reload}>Show</Button>
          </p>
        )}
      </div>
      {sort !== null && rows.ready && (
        <p className="items-order">
          {order.words(visible.length, rows.unsorted)}{' '}
          <Button look="quiet" onClick={() => setQuery('sort', null, true)}>
            Clear sort
          </Button>
        </p>
      )}
      {picked.length > 0 && (
        <SelectionBar
          source={source}
          rows={picked}
          writable={writable}
          many={many}
          onClear={() => choose(NOTHING)}
        />
      )}
      <div className="visually-hidden" role="status" aria-live="polite">
        {died}
      </div>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: handles Escape of its children. */}
      <div
        className={shown === null ? 'items-body' : 'items-body items-split'}
        onKeyDown={(event) => {
          // Dialogs handle Escape themselves; in an editor, the first Escape only makes Tab leave
          // it.
          const within = event.target as Element;
          const isEscape = event.key === 'Escape' && !event.defaultPrevented;
          const isInEditor = within.closest('.editor') !== null;
          const isFirst = isInEditor && !escaped.current;
          const isTaken = isFirst || within.closest('dialog') !== null;
          const isOver = isEscape && shown !== null && !isTaken;
          escaped.current = isEscape && isInEditor && !isOver;
          if (isOver) close();
        }}
      >
        <div className="items-list" ref={list}>
          <Grid
            label={`${Noun}s of ${target.collection}`}
            rows={visible}
            open={rows.cursor !== null}
            source={source}
            columns={columns}
            sort={sort}
            tip={order.tip}
            slim={shown !== null || isPhone}
            opened={shown?.row?.key ?? null}
            selected={selected}
            drafted={drafted}
            onOpen={open}
            onNearEnd={rows.loadMore}
            onSort={(next: Sort | null) => setQuery('sort', sortText(next), true)}
            onSelect={choose}
            onCopy={actions.copy}
            binned={bin}
            onDelete={(row) => writable && many.ask('delete', some(row))}
            whyNotEdit={actions.whyNotEdit}
            setField={actions.setField}
            menu={(row, column, edit) =>
              rowMenu({
                ...{ writable, column, edit },
                isSelected: selected.keys.has(row.key),
                whyNot: column === null ? null : actions.whyNotEdit(row, column),
                onOpen: () => open(row, true),
                onCopyCell: () => actions.copy(row, column),
                onCopyRow: () => actions.copy(row, null),
                onDuplicate: () => actions.duplicate(row),
                onSelect: () => choose(toggled(selected, row.key)),
                onDelete: () => many.ask('delete', some(row)),
              })
            }
          />
          {rows.ready && visible.length === 0 && rows.failure === null && (
            <EmptyList
              noun={noun}
              isAll={filter === '' && quick === 'all'}
              isBinned={bin.size > 0}
              writable={writable}
              onNew={() => open(null, true)}
              onClear={() => setQueries({ filter: null, show: null }, true)}
            />
          )}
        </div>
        {shown !== null && (
          <ItemPane
            key={shown.turn}
            target={target}
            source={source}
            row={shown.row}
            copy={shown.copy}
            focus={shown.focus}
            writable={writable}
            onSaved={(row, before) => {
              rows.put(row, before);
              news.seen(row.key);
              refresh();
              if (!isShown(shown)) return;
              setShown({ ...shown, row });
              setQuery('item', addressOf(row));
            }}
            onRead={(row) => {
              rows.renew([row]);
              news.seen(row.key);
            }}
            onGone={changes.onGone}
            onUndo={changes}
            onDelete={(row) => many.ask('delete', [row])}
            onClose={close}
          />
        )}
      </div>
      {many.dialog}
    </div>
  );
}
