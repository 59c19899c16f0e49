// What of the tree is open, and when what lies in a database is asked for.
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
/** Where this browser keeps which databases are open, and how many at most. */
const OPEN = 'tree-open';
const MOST_OPEN = 50;

const isNames = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((name) => typeof name === 'string');

/** A filter finds containers too, so they have to be known. */
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

/** Databases that others make or drop are seen after a while, without a press of Refresh. */
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
      // Those that were opened last.
      writePreference(OPEN, [...after].slice(-MOST_OPEN));
      return after;
    });
  }, []);

  // The database of what the page shows is open.
  const inside = place.page === 'collection' || place.page === 'database' ? place : null;
  const [door, database] = [inside?.door, inside?.database];
  useEffect(() => {
    if (door !== undefined && database !== undefined) setOne(door, database, true);
  }, [door, database, setOne]);

  // Whatever is open and not known yet is asked for once.
  const unasked = known.branches.filter(
    (branch) =>
      open.has(keyOf(branch.door, branch.name)) &&
      branch.collections === null &&
      branch.failure === null,
  );
  const unaskedKeys = unasked.map((branch) => keyOf(branch.door, branch.name)).join('\n');
  // biome-ignore lint/correctness/useExhaustiveDependencies: the list is made anew with every picture; its keys say what it is.
  useEffect(() => {
    for (const branch of unasked) void loadCollections(branch.door, branch.name);
  }, [unaskedKeys]);

  const rows = useMemo(() => rowsOf(known.branches, open, filter), [known.branches, open, filter]);
  return { known, rows, setOpen: setOne };
}
