// The side pane: buttons, the filter, the tree, and the context menu.
import { Plus, RefreshCw } from 'lucide-react';
import { useMemo, useState } from 'react';
import { mayWrite, type Session, session } from '../../api/session';
import type { Door, View } from '../../state/place';
import { go, usePlace } from '../../state/router';
import { useStore } from '../../state/store';
import { loadCollections, refreshTree } from '../../state/tree';
import { Button } from '../../ui/Button';
import { Menu, type MenuItem } from '../../ui/Menu';
import { MenuButton } from '../../ui/MenuButton';
import { PlaceLink } from '../../ui/PlaceLink';
import { Skeleton } from '../../ui/Skeleton';
import { DOOR_NAMES, dialog, noun, READ_ONLY } from '../dialogs';
import { viewLabel } from '../title';
import { wholeItems } from '../whole/menu';
import { labelOf, type Row, rowOfPlace } from './rows';
import { TreeView } from './TreeView';
import { useFacts } from './useFacts';
import { useTreeState } from './useTreeState';
import './tree.css';

type Doors = Session['doors'];

function remove(row: Row): void {
  if (row.kind === 'note') return;
  const { door, database } = row;
  if (row.kind === 'database') dialog.set({ kind: 'delete-database', door, database });
  else {
    dialog.set({ kind: 'delete-collection', target: { door, database, collection: row.name } });
  }
}

function itemsOf(row: Row, reason: string | null): MenuItem[] {
  const { door, database } = row;
  const made = { kind: 'collection', door, database } as const;
  const collection: MenuItem[] =
    row.kind !== 'collection'
      ? []
      : [
          {
            label: viewLabel('settings'),
            onChoose: () =>
              go({ page: 'collection', view: 'settings', door, database, collection: row.name }),
          },
        ];
  return [
    ...collection,
    { label: `New ${noun(door)}`, onChoose: () => dialog.set(made), reason },
    ...(row.kind === 'collection'
      ? wholeItems({ door, database, collection: row.name }, reason)
      : [{ label: 'Delete database', onChoose: () => remove(row), reason, danger: true }]),
  ];
}

/** Navigates to a row; a collection opens in the current view. */
function choose(
  row: Row,
  view: View,
  open: (row: Row, isOpen: boolean) => void,
  left: () => void,
): void {
  const { door, database } = row;
  if (row.kind === 'note') {
    if (row.failed) void loadCollections(door, database);
    return;
  }
  if (row.kind === 'collection') {
    go({ page: 'collection', view, door, database, collection: row.name });
  } else {
    open(row, true);
    go({ page: 'database', door, database });
  }
  left();
}

/** `onLeave`: called when a page is chosen. */
export function TreePane({ onLeave }: { onLeave: () => void }) {
  const { place } = usePlace();
  const [filter, setFilter] = useState('');
  const [active, setActive] = useState<Row>();
  const [menu, setMenu] = useState<{ row: Row; at: { x: number; y: number } } | null>(null);
  const { known, rows, setOpen } = useTreeState(place, filter);
  const facts = useFacts(rows);
  const selected = useMemo(() => rowOfPlace(rows, place), [rows, place]);
  const reason = mayWrite(useStore(session)) ? null : READ_ONLY;
  const open = (row: Row, isOpen: boolean) => setOpen(row.door, row.database, isOpen);
  return (
    <>
      <Tools reason={reason} active={active} loading={known.loading} />
      <input
        type="search"
        className="tree-filter"
        aria-label="Filter databases and containers"
        placeholder="Filter"
        value={filter}
        onChange={(event) => setFilter(event.target.value)}
      />
      {known.failures.map((failure) => (
        <p key={failure} className="error tree-said" role="alert">
          {failure}
        </p>
      ))}
      {rows.length === 0 ? (
        <Nothing loading={known.loading} filtered={filter !== ''} reason={reason} />
      ) : (
        <TreeView
          rows={rows}
          selected={selected}
          facts={facts}
          onOpen={open}
          onChoose={(row) =>
            choose(row, place.page === 'collection' ? place.view : 'items', open, onLeave)
          }
          onActive={setActive}
          onMenu={(row, at) => row.kind !== 'note' && setMenu({ row, at })}
          onDelete={(row) => reason === null && remove(row)}
        />
      )}
      {menu !== null && (
        <Menu
          label={`Actions for ${labelOf(menu.row)}`}
          at={menu.at}
          items={itemsOf(menu.row, reason)}
          onClose={() => setMenu(null)}
        />
      )}
    </>
  );
}

interface NothingProps {
  loading: boolean;
  filtered: boolean;
  reason: string | null;
}

/** Explains an empty tree. */
function Nothing({ loading, filtered, reason }: NothingProps) {
  if (loading) return <Skeleton lines={5} />;
  const said = filtered
    ? 'No matching databases, containers or collections.'
    : 'There are no databases yet.';
  return (
    <div className="hint tree-said">
      <p role="status">{said}</p>
      {!filtered && reason === null && (
        <div className="row">
          <Button onClick={() => dialog.set({ kind: 'database' })}>Create one</Button>
          <PlaceLink to={{ page: 'home' }}>or try the sample</PlaceLink>
        </div>
      )}
    </div>
  );
}

interface ToolsProps {
  reason: string | null;
  active: Row | undefined;
  loading: boolean;
}

/** Entries of the "New" menu; the database of the active row is preselected in its API. */
function makings(active: Row | undefined, doors: Doors | undefined): MenuItem[] {
  const collection = (door: Door): MenuItem => ({
    label: `New ${noun(door)} (${DOOR_NAMES[door]})`,
    onChoose: () =>
      dialog.set({
        kind: 'collection',
        door,
        database: active?.door === door ? active.database : null,
      }),
  });
  return [
    { label: 'New database', onChoose: () => dialog.set({ kind: 'database' }) },
    ...(doors?.cosmos == null ? [] : [collection('nosql')]),
    ...(doors?.mongo == null ? [] : [collection('mongo')]),
  ];
}

function Tools({ reason, active, loading }: ToolsProps) {
  const doors = useStore(session)?.doors;
  return (
    <div className="tree-tools" role="group" aria-label="Databases">
      <MenuButton
        label="What to create"
        items={makings(active, doors)}
        disabled={reason !== null}
        title={reason ?? undefined}
      >
        <Plus className="icon" />
        New
      </MenuButton>
      <Button
        look="quiet"
        aria-label="Refresh"
        title="Refresh"
        busy={loading}
        onClick={() => void refreshTree()}
      >
        <RefreshCw className="icon" />
      </Button>
    </div>
  );
}
