// A database page: its collections with counts, default TTL, and upcoming expirations.
import { useEffect, useMemo, useRef, useState } from 'react';
import { mayWrite, session } from '../../api/session';
import { counted } from '../../pure/figures/amount';
import { dialog, noun, READ_ONLY } from '../../shell/dialogs';
import { wholeItems } from '../../shell/whole/menu';
import type { Door, Target } from '../../state/place';
import { setQuery, usePlace } from '../../state/router';
import { useStore } from '../../state/store';
import { tree } from '../../state/tree';
import { Banner } from '../../ui/Banner';
import { Button } from '../../ui/Button';
import { Menu } from '../../ui/Menu';
import { useWindowed } from '../../ui/useWindowed';
import { Check } from './Check';
import { Line } from './Line';
import { SelectionBar } from './SelectionBar';
import { useChosen } from './useChosen';
import { useForecasts } from './useForecasts';
import './database.css';

export interface DatabaseProps {
  door: Door;
  database: string;
}

const ROW_HEIGHT = 32;
const COLUMNS = ['Default TTL', 'Live', 'Size', 'Expires in 1 hour', 'Expires in 1 day'];
const NONE: readonly string[] = [];

export default function Database({ door, database }: DatabaseProps) {
  const { branches, loading } = useStore(tree);
  const may = mayWrite(useStore(session));
  const branch = branches.find((known) => known.door === door && known.name === database);
  const filter = usePlace().query.get('filter') ?? '';
  const names = branch?.collections ?? NONE;
  const shown = useMemo(() => {
    const wanted = filter.trim().toLowerCase();
    return wanted === '' ? names : names.filter((name) => name.toLowerCase().includes(wanted));
  }, [names, filter]);
  const isLoading =
    branch === undefined ? loading : branch.collections === null && branch.failure === null;
  return (
    <div className="database" data-landing=".database-list">
      <div className="row database-tools">
        <Button
          look="primary"
          disabled={!may}
          title={may ? undefined : READ_ONLY}
          onClick={() => dialog.set({ kind: 'collection', door, database })}
        >
          New {noun(door)}
        </Button>
        <input
          type="search"
          aria-label={`Filter ${noun(door)}s`}
          placeholder="Filter"
          value={filter}
          maxLength={1000}
          onChange={(event) => setQuery('filter', event.target.value)}
        />
        <span className="hint" role="status">
          {isLoading ? 'Loading…' : counted(shown.length, noun(door))}
        </span>
      </div>
      {branch?.failure != null && <Banner look="bad">{branch.failure}</Banner>}
      {!isLoading && branch?.failure == null && shown.length === 0 && (
        <p className="empty">
          {filter === ''
            ? `This database has no ${noun(door)}s yet. Create the first one with New ${noun(door)}.`
            : `No matching ${noun(door)}s.`}
        </p>
      )}
      {shown.length > 0 && (
        <List key={`${door}/${database}`} door={door} database={database} names={shown} />
      )}
    </div>
  );
}

function List({ door, database, names }: DatabaseProps & { names: readonly string[] }) {
  const box = useRef<HTMLDivElement>(null);
  const view = useWindowed(box, names.length, ROW_HEIGHT);
  const { known, round, want } = useForecasts(door, database);
  const may = mayWrite(useStore(session));
  const [menu, setMenu] = useState<{ target: Target; at: { x: number; y: number } } | null>(null);
  const chosen = useChosen(names);
  const { first, end } = view;
  useEffect(() => {
    // Debounced: rows that scroll past are not loaded.
    const timer = setTimeout(() => want(names.slice(first, end)), 100);
    return () => clearTimeout(timer);
  }, [names, first, end, round, want]);
  return (
    <>
      {chosen.names.length > 0 && (
        <SelectionBar door={door} database={database} names={chosen.names} onClear={chosen.clear} />
      )}
      <div
        ref={box}
        className="database-list"
        role="table"
        aria-label={`${noun(door)}s of ${database}`}
        aria-rowcount={names.length + 1}
        tabIndex={0}
      >
        <div role="rowgroup" className="database-head">
          <div role="row" aria-rowindex={1} className="database-row">
            <span role="columnheader" className="database-name">
              {may && (
                <Check
                  label={`Select all listed ${noun(door)}s`}
                  isChecked={chosen.names.length === names.length}
                  isPartly={chosen.names.length > 0}
                  onToggle={chosen.toggleAll}
                />
              )}
              Name
            </span>
            {COLUMNS.map((column) => (
              <span key={column} role="columnheader">
                {column}
              </span>
            ))}
            <span role="columnheader" className="database-actions">
              <span className="visually-hidden">Actions</span>
            </span>
          </div>
        </div>
        <div role="rowgroup" className="database-space" style={{ height: view.height }}>
          <div role="none" style={{ transform: `translateY(${view.offset}px)` }}>
            {names.slice(first, end).map((name, index) => (
              <Line
                key={name}
                target={{ door, database, collection: name }}
                known={known.get(name)}
                index={first + index + 2}
                check={
                  may && (
                    <Check
                      label={`Select ${name}`}
                      isChecked={chosen.has(name)}
                      onToggle={() => chosen.toggle(name)}
                    />
                  )
                }
                onMenu={(target, at) => setMenu({ target, at })}
              />
            ))}
          </div>
        </div>
        {menu !== null && (
          <Menu
            label={`Actions for ${menu.target.collection}`}
            at={menu.at}
            items={wholeItems(menu.target, may ? null : READ_ONLY)}
            onClose={() => setMenu(null)}
          />
        )}
      </div>
    </>
  );
}
