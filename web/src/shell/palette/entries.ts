// Entries of the palette: databases and collections, pages, views of the current collection, and
// available actions. Only builds lists; the palette searches and renders them.

import { session } from '../../api/session';
import type { SlowQuery } from '../../pages/metrics/slow/queries';
import { type Past, shown } from '../../pages/query/history';
import { addressOf } from '../../pages/query/tabs/address';
import type { Saved } from '../../pages/query/tabs/saved';
import { type CommandName, commands } from '../../state/commands';
import { type Door, type Place, pathOf, VIEWS, type View } from '../../state/place';
import { go } from '../../state/router';
import { isListed, type Tree, targetAt, targetOf } from '../../state/tree';
import { copyLink } from '../copyLink';
import { DOOR_NAMES, dialog, noun } from '../dialogs';
import { overlay } from '../keys/overlay';
import { chooseTheme, THEME_LABELS, THEMES } from '../theme';
import { viewLabel } from '../title';
import { copyBackupCommand } from './backupCommand';
import { actsOfOthers, collectionActs } from './collectionActs';
import { loadSampleAtHome } from './loadSample';

export type Group =
  | 'This collection'
  | 'Pages'
  | 'Databases and collections'
  | 'Actions'
  | 'Other collections'
  | 'Saved queries'
  | 'Recent queries'
  | 'Slow operations';

export interface Entry {
  key: string;
  group: Group;
  label: string;
  /** Shown beside the label: the API. */
  hint?: string;
  /** The equivalent shortcut. */
  keys?: string;
  /** Search text; label and hint by default. */
  found?: string;
  run: () => void;
}

/** A query from this browser's history. */
export interface Recent {
  door: Door;
  past: Past;
}

/** A query saved in this browser; `place` is `nosql/database/container`, as in its storage key. */
export interface SavedOf {
  place: string;
  saved: Saved;
}

export interface Facts {
  place: Place;
  tree: Tree;
  doors: { mongo: boolean; nosql: boolean };
  /** Whether the session has write access. */
  may: boolean;
  /** Whether the clock is manual. */
  manual: boolean;
  recent: readonly Recent[];
  saved: readonly SavedOf[];
  slow: readonly SlowQuery[];
}

const LONGEST_LABEL = 120;

const VIEW_KEYS: Record<View, string> = {
  items: 'g i',
  schema: 'g c',
  query: 'g q',
  settings: 'g s',
  metrics: 'g m',
};
const STEPS: [seconds: number, words: string][] = [
  [60, '1 minute'],
  [3600, '1 hour'],
  [86_400, '1 day'],
  [7_776_000, '90 days'],
];

function views({ place }: Facts): Entry[] {
  if (place.page !== 'collection') return [];
  return VIEWS.filter((view) => view !== place.view).map((view) => ({
    key: `view ${view}`,
    group: 'This collection',
    label: viewLabel(view),
    hint: place.collection,
    // Excludes the collection's name: searching for it should find other objects.
    found: viewLabel(view),
    keys: VIEW_KEYS[view],
    run: () => go({ ...place, view }),
  }));
}

const COMMAND_KEYS: Partial<Record<CommandName, string>> = {
  'new-item': 'n',
  filter: '/',
  edit: 'e',
};

/** Commands of the current page. */
function ofThePage(): Entry[] {
  return [...commands.get()].map(([name, { label, also = '', run }]) => {
    const keys = COMMAND_KEYS[name];
    return {
      key: `command ${name}`,
      group: 'This collection',
      label,
      found: `${label} ${also}`,
      ...(keys === undefined ? {} : { keys }),
      run,
    };
  });
}

function acts({ place, may }: Facts): Entry[] {
  if (place.page !== 'collection') return [];
  const { door, database, collection } = place;
  return collectionActs({ door, database, collection }, place)
    .filter(({ writes }) => may || !writes)
    .map(({ key, label, also, run }) => ({
      key: `act ${key}`,
      group: 'This collection',
      label,
      hint: collection,
      found: `${label} ${noun(door)} ${also}`,
      run,
    }));
}

function actsElsewhere({ place, tree, may }: Facts): Entry[] {
  return actsOfOthers(tree, place)
    .filter(({ act: { writes } }) => may || !writes)
    .map(({ target, hint, act: { key, label, also, run } }) => ({
      key: `act ${key} ${pathOf({ page: 'collection', view: 'items', ...target })}`,
      group: 'Other collections',
      label,
      hint,
      found: `${label} ${target.database} › ${target.collection} ${also}`,
      run,
    }));
}

function pages({ place }: Facts): Entry[] {
  const all = [
    { page: 'home', label: 'Home', keys: 'g h' },
    { page: 'metrics', label: 'Account metrics', keys: undefined },
    { page: 'features', label: 'Features', keys: 'g f' },
  ] as const;
  return all
    .filter(({ page }) => page !== place.page)
    .map(({ page, label, keys }) => ({
      key: `page ${page}`,
      group: 'Pages',
      label,
      ...(keys === undefined ? {} : { keys }),
      run: () => go({ page }),
    }));
}

function names({ tree }: Facts): Entry[] {
  return tree.branches.flatMap(({ door, name: database, collections }): Entry[] => {
    const entry = (to: Place, label: string): Entry => ({
      key: pathOf(to),
      group: 'Databases and collections',
      label,
      hint: DOOR_NAMES[door],
      run: () => go(to),
    });
    return [
      entry({ page: 'database', door, database }, database),
      ...(collections ?? []).map((collection) =>
        entry(
          { page: 'collection', view: 'items', door, database, collection },
          `${database} › ${collection}`,
        ),
      ),
    ];
  });
}

function making({ place, doors }: Facts): Entry[] {
  const here = place.page === 'database' || place.page === 'collection' ? place : null;
  const open: Door[] = [];
  if (doors.nosql) open.push('nosql');
  if (doors.mongo) open.push('mongo');
  return [
    ...open.map((door) => ({
      key: `new ${door}`,
      group: 'Actions' as const,
      label: `New ${noun(door)}`,
      hint: DOOR_NAMES[door],
      run: () =>
        dialog.set({
          kind: 'collection',
          door,
          database: here?.door === door ? here.database : null,
        }),
    })),
    {
      key: 'new database',
      group: 'Actions',
      label: 'New database',
      run: () => dialog.set({ kind: 'database' }),
    },
    {
      key: 'sample',
      group: 'Actions',
      label: 'Load sample data',
      run: () => void loadSampleAtHome(),
    },
  ];
}

/** Queries of this browser whose collection exists and that fit a URL; opened, not run. */
function recent({ tree, recent: all }: Facts): Entry[] {
  return all.flatMap(({ door, past }, at): Entry[] => {
    const target = targetOf(tree, door, past.place);
    const query = addressOf(door, past.texts);
    if (target === null || query === null) return [];
    return [
      {
        key: `recent ${door} ${at}`,
        group: 'Recent queries',
        label: shown(past),
        hint: past.place,
        run: () => go({ page: 'collection', view: 'query', ...target }, query),
      },
    ];
  });
}

/** Saved queries whose collection exists. */
function saved({ tree, saved: all }: Facts): Entry[] {
  return all.flatMap(({ place, saved: { name, texts } }): Entry[] => {
    const target = targetAt(tree, place);
    const query = target === null ? null : addressOf(target.door, texts);
    if (target === null || query === null) return [];
    return [
      {
        key: `saved ${place} ${name}`,
        group: 'Saved queries',
        label: name,
        hint: `${target.database} › ${target.collection}`,
        run: () => go({ page: 'collection', view: 'query', ...target }, query),
      },
    ];
  });
}

/** Slow queries whose collection exists; opened without running. */
function slow({ tree, slow: all }: Facts): Entry[] {
  return all
    .filter(({ target }) => isListed(tree, target))
    .map(({ target, query, took }) => ({
      key: `slow ${pathOf({ page: 'collection', view: 'query', ...target })} ${query.q}`,
      group: 'Slow operations',
      label: `${took}: ${query.q ?? ''}`.slice(0, LONGEST_LABEL),
      hint: `${target.database} › ${target.collection}`,
      run: () => go({ page: 'collection', view: 'query', ...target }, query),
    }));
}

/** Opens the confirmation of a clock move. */
export function moving(seconds: number, words: string): Entry {
  return {
    key: `advance ${seconds}`,
    group: 'Actions',
    label: `Advance the clock by ${words}…`,
    run: () => overlay.set({ kind: 'advance', seconds }),
  };
}

function actions(facts: Facts): Entry[] {
  const { may, manual } = facts;
  return [
    ...(may ? making(facts) : []),
    ...(may && manual ? STEPS.map(([seconds, words]) => moving(seconds, words)) : []),
    {
      key: 'link',
      group: 'Actions',
      label: 'Copy link to this page',
      run: () => void copyLink(),
    },
    {
      key: 'backup',
      group: 'Actions',
      label: 'Copy the command for a backup',
      hint: 'ebb backup',
      found: 'Copy the command for a backup back up ebb backup',
      run: () => void copyBackupCommand(session.get()?.login === 'required'),
    },
    {
      key: 'sheet',
      group: 'Actions',
      label: 'Show keyboard shortcuts',
      keys: '?',
      run: () => overlay.set({ kind: 'sheet' }),
    },
    ...THEMES.map((theme) => ({
      key: `theme ${theme}`,
      group: 'Actions' as const,
      label: `Theme: ${THEME_LABELS[theme]}`,
      run: () => chooseTheme(theme),
    })),
  ];
}

/** Returns the entries in the order for empty input, without other collections' actions. */
export function entriesOf(facts: Facts): Entry[] {
  return [
    ...ofThePage(),
    ...views(facts),
    ...acts(facts),
    ...actions(facts),
    ...pages(facts),
    ...names(facts),
    ...saved(facts),
    ...recent(facts),
    ...slow(facts),
    ...actsElsewhere(facts),
  ];
}
