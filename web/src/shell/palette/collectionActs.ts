// Collection actions in the palette: for the current collection, and for all others by name, so
// that "import orders" works on every page.
import { transfer } from '../../pages/items/transfer/request';
import { type Place, pathOf, type Target } from '../../state/place';
import { go } from '../../state/router';
import type { Tree } from '../../state/tree';
import { DOOR_NAMES, dialog } from '../dialogs';
import { wholeActs } from '../whole/menu';

export interface CollectionAct {
  key: string;
  label: string;
  /** Search terms besides the label. */
  also: string;
  writes: boolean;
  run: () => void;
}

/** With more collections, only actions on the current one are offered. */
const MOST_COLLECTIONS = 500;

function show(target: Target, view: 'items' | 'settings', query?: Record<string, string>): void {
  go({ page: 'collection', view, ...target }, query);
}

/** Returns the actions on a collection, except opening the current page. */
export function collectionActs(target: Target, place: Place): CollectionAct[] {
  const isListed =
    place.page === 'collection' &&
    place.view === 'items' &&
    pathOf(place) === pathOf({ ...place, ...target });
  const transferring = (kind: 'import' | 'export') => () => {
    if (!isListed) show(target, 'items');
    transfer.set(kind === 'import' ? { kind, file: null, target } : { kind, rows: null, target });
  };
  const isMongo = target.door === 'mongo';
  const whole = wholeActs(target).map(({ label, kind }) => ({
    key: kind,
    label,
    also: kind === 'delete-collection' ? 'drop remove' : kind === 'empty' ? 'truncate clear' : '',
    writes: true,
    run: () => dialog.set({ kind, target }),
  }));
  return [
    {
      key: 'import',
      label: 'Import…',
      also: 'load file',
      writes: true,
      run: transferring('import'),
    },
    {
      key: 'export',
      label: 'Export…',
      also: 'download save file',
      writes: false,
      run: transferring('export'),
    },
    {
      key: 'indexes',
      label: isMongo ? 'Indexes' : 'Indexing policy',
      also: isMongo ? 'create index' : 'create index indexes',
      writes: false,
      run: () => show(target, 'settings', { section: isMongo ? 'indexes' : 'indexing' }),
    },
    {
      key: 'ttl',
      label: 'Time to live',
      also: 'ttl expire expiry retention',
      writes: false,
      run: () => show(target, 'settings', { section: 'ttl' }),
    },
    ...whole,
  ];
}

/** Returns the actions on all collections but the current one, with their names. */
export function actsOfOthers(
  { branches }: Tree,
  place: Place,
): { target: Target; hint: string; act: CollectionAct }[] {
  const count = branches.reduce((sum, { collections }) => sum + (collections?.length ?? 0), 0);
  if (count > MOST_COLLECTIONS) return [];
  const here = place.page === 'collection' ? pathOf(place) : '';
  return branches.flatMap(({ door, name: database, collections }) =>
    (collections ?? []).flatMap((collection) => {
      const target = { door, database, collection };
      const isHere =
        place.page === 'collection' &&
        pathOf({ page: 'collection', view: place.view, ...target }) === here;
      const hint = `${database} › ${collection} · ${DOOR_NAMES[door]}`;
      return isHere ? [] : collectionActs(target, place).map((act) => ({ target, hint, act }));
    }),
  );
}
