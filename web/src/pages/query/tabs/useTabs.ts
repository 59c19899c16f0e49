// The open queries of a collection: kept across reloads, combined with the one named by the URL.
import { useCallback, useEffect, useRef, useState } from 'react';
import { readDraft, useDraft, writeDraft } from '../../../state/draft';
import type { Target } from '../../../state/place';
import { setQueries, usePlace } from '../../../state/router';
import { addressOf, isFirst, PARTS, signatureOf, type Texts, textsOf } from './address';
import { draftBase, dropTexts, readTexts, writeTexts } from './drafts';
import { readTabs, renamed, type TabList, withoutTab, withTab } from './tabList';

/** Delay after typing before the URL is updated. */
const QUIET_MS = 250;

export interface QueryTabs {
  list: TabList;
  /** Incremented when a tab's texts were set outside its form. */
  turnOf: (id: string) => number;
  show: (id: string) => void;
  add: () => void;
  close: () => void;
  rename: (name: string) => void;
  /** Opens texts in the tab that has them, in an untouched one, or in a new one. */
  open: (texts: Texts, name?: string) => void;
}

const same = (a: Texts, b: Texts) => Object.keys(b).every((name) => a[name] === b[name]);

/**
 * The path that was reloaded, until its URL is processed. After a reload the drafts are more
 * recent: a browser may load a slightly older URL.
 */
let reloaded = performance
  .getEntriesByType('navigation')
  .filter((entry) => (entry as PerformanceNavigationTiming).type === 'reload')
  .map(({ name }) => new URL(name).pathname)
  .at(0);

/** Returns the list with the tab that has the texts. */
function opened(target: Target, list: TabList, texts: Texts, name: string): TabList {
  const has = [list.shown, ...list.tabs.map(({ id }) => id)].find((id) =>
    same(readTexts(target, id), texts),
  );
  if (has !== undefined) return { ...list, shown: has };
  const isFree = isFirst(target.door, readTexts(target, list.shown));
  const next = isFree ? renamed(list, list.shown, name) : withTab(list, name);
  // At the limit the current tab takes them.
  writeTexts(target, next.shown, texts);
  return next;
}

export function useTabs(target: Target): QueryTabs {
  const base = draftBase(target, '');
  const [kept, keep] = useDraft(`${base}:tabs`);
  const [turns, setTurns] = useState<Readonly<Record<string, number>>>({});
  const turn = (id: string) => setTurns((known) => ({ ...known, [id]: (known[id] ?? 0) + 1 }));
  const list = readTabs(kept);
  const latest = useRef(list);
  useEffect(() => {
    latest.current = list;
  });
  const set = useCallback(
    (next: TabList) => {
      latest.current = next;
      keep(JSON.stringify(next));
    },
    [keep],
  );
  const open = (texts: Texts, name = '') => {
    const next = opened(target, latest.current, texts, name);
    set(next);
    turn(next.shown);
  };
  // A URL other than the last one written comes from a link or from history navigation.
  const { query } = usePlace();
  const signature = signatureOf(query);
  const written = `${base}:address`;
  const isHere = useRef(false);
  // biome-ignore lint/correctness/useExhaustiveDependencies: only a changed URL opens a query.
  useEffect(() => {
    const texts = textsOf(target.door, query);
    const wasHere = isHere.current;
    const isReload = reloaded === location.pathname;
    isHere.current = true;
    reloaded = undefined;
    if (texts === null || isReload) return;
    // If the user left before the URL was updated, history navigation restores the URL's query.
    const isTyped = wasHere || same(readTexts(target, latest.current.shown), texts);
    if (isTyped && signature === readDraft(written)) return;
    writeDraft(written, signature);
    open(texts);
  }, [signature]);
  return {
    list,
    turnOf: (id) => turns[id] ?? 0,
    show: (id) => set({ ...list, shown: id }),
    add: () => set(withTab(list)),
    close: () => {
      dropTexts(target, list.shown);
      set(withoutTab(list, list.shown));
      turn(list.shown);
    },
    rename: (name) => set(renamed(list, list.shown, name)),
    open,
  };
}

/** Updates the URL shortly after typing. */
export function useAddress(target: Target, texts: Texts | null): void {
  const text = JSON.stringify(texts === null ? null : (addressOf(target.door, texts) ?? {}));
  const written = `${draftBase(target, '')}:address`;
  useEffect(() => {
    const parts = JSON.parse(text) as Record<string, string> | null;
    if (parts === null) return;
    const timer = setTimeout(() => {
      const next = new URLSearchParams(parts);
      writeDraft(written, signatureOf(next));
      setQueries(Object.fromEntries(PARTS.map((name) => [name, next.get(name)])));
    }, QUIET_MS);
    return () => clearTimeout(timer);
  }, [text, written]);
}
