// Which databases are open in the tree, and when their collections are loaded.
import { useCallback, useEffect, useMemo, useState } from 'react';
import { session } from '../../api/session';
import type { Door, Place } from '../../state/place';
import { readPreference, writePreference } from '../../state/preference';
import { useServerChanges } from '../../state/server';
import { useSelected, useStore } from '../../state/store';
import { loadCollections, loadTree, refreshTree, tree } from '../../state/tree';
import { lookInto } from './lookInto';
import { keyOf, rowsOf } from './rows';

const AFTER_TYPING_MS = 250;
const OTHERS_MS = 10_000;
/** Storage key of the open databases, and their maximum number. */
const OPEN = 'tree-open';
const MOST_OPEN = 50;

const isNames = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((name) => typeof name === 'string');

/** The filter also matches collections, so they are loaded. */
function useFilterLooks(filter: string): void {
  const wanted = filter.trim() !== '';
  useEffect(() => {
    if (!wanted) return;
    let stopped = false;
    const timer = setTimeout(() => void lookInto(() => stopped), AFTER_TYPING_MS);
    return () => {
      stopped = true;
      clearTimeout(timer);
    };
  }, [wanted]);
}

/** Polls, so that databases created or dropped by others appear without Refresh. */
function useOthers(): void {
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible' && !tree.get().loading) void loadTree(true);
    }, OTHERS_MS);
    return () => clearInterval(timer);
  }, []);
}

export function useTreeState(place: Place, filter: string) {
  const known = useStore(tree);
  const changes = useServerChanges();
  const doors = useSelected(session, (state) => `${state?.doors.cosmos} ${state?.doors.mongo}`);
  const [open, setOpen] = useState<ReadonlySet<string>>(
    () => new Set(readPreference<string[]>(OPEN, [], isNames)),
  );
  useEffect(() => {
    void refreshTree();
  }, [changes, doors]);
  useOthers();
  useFilterLooks(filter);

  const setOne = useCallback((door: Door, database: string, isOpen: boolean) => {
    setOpen((before) => {
      const after = new Set(before);
      if (isOpen) after.add(keyOf(door, database));
      else after.delete(keyOf(door, database));
      // The most recently opened ones.
      writePreference(OPEN, [...after].slice(-MOST_OPEN));
      return after;
    });
  }, []);

  // Opens the database of the current page.
  const inside = place.page === 'collection' || place.page === 'database' ? place : null;
  const [door, database] = [inside?.door, inside?.database];
  useEffect(() => {
    if (door !== undefined && database !== undefined) setOne(door, database, true);
  }, [door, database, setOne]);

  // Loads every open database once.
  const unasked = known.branches.filter(
    (branch) =>
      open.has(keyOf(branch.door, branch.name)) &&
      branch.collections === null &&
      branch.failure === null,
  );
  const unaskedKeys = unasked.map((branch) => keyOf(branch.door, branch.name)).join('\n');
  // biome-ignore lint/correctness/useExhaustiveDependencies: the keys identify the list.
  useEffect(() => {
    for (const branch of unasked) void loadCollections(branch.door, branch.name);
  }, [unaskedKeys]);

  const rows = useMemo(() => rowsOf(known.branches, open, filter), [known.branches, open, filter]);
  return { known, rows, setOpen: setOne };
}
