// Keeps the URL and the shown page in sync. Leaving the portal with unsaved changes asks for
// confirmation.
import { useEffect, useMemo } from 'react';
import { say, turnPage } from './log';
import { type Place, parsePlace, pathOf } from './place';
import { createStore, useStore } from './store';

const here = createStore(location.pathname + location.search);
const guards = new Set<() => boolean>();

/** Shows a URL; a change of only the query string is not a page change. */
function show(address: string): void {
  const pathOfAddress = (one: string) => one.split('?', 1)[0];
  if (pathOfAddress(address) !== pathOfAddress(here.get())) turnPage();
  here.set(address);
}

window.addEventListener('popstate', () => show(location.pathname + location.search));

function isUnsaved(): boolean {
  return [...guards].some((isDirty) => isDirty());
}

/** Returns whether there are no unsaved changes or the user confirms. */
export function mayEnd(): boolean {
  return (
    !isUnsaved() ||
    window.confirm('There are unsaved changes. This tab keeps them as drafts. Sign out?')
  );
}

/** Query parameter that is kept on every page. */
export const CONSOLE = 'console';

function ofEveryPage(): Record<string, string> {
  const shown = new URLSearchParams(location.search).get(CONSOLE);
  return shown === null ? {} : { [CONSOLE]: shown };
}

export function addressOf(place: Place, query: Record<string, string> = {}): string {
  const search = new URLSearchParams(query).toString();
  return pathOf(place) + (search === '' ? '' : `?${search}`);
}

/** Navigates to a place. Unsaved changes stay as drafts. */
export function go(place: Place, query: Record<string, string> = {}): void {
  const path = addressOf(place, { ...query, ...ofEveryPage() });
  if (path === here.get()) return;
  const isKept = isUnsaved();
  history.pushState(null, '', path);
  show(path);
  if (isKept) say({ kind: 'note', text: 'Unsaved changes are kept as a draft.' });
}

/** Sets or removes query parameters; `isStep` adds a history entry. */
export function setQueries(parts: Record<string, string | null>, isStep = false): void {
  const url = new URL(location.href);
  for (const [name, value] of Object.entries(parts)) {
    if (value === null || value === '') url.searchParams.delete(name);
    else url.searchParams.set(name, value);
  }
  const address = url.pathname + url.search;
  if (address === here.get()) return;
  if (isStep) history.pushState(null, '', url);
  else history.replaceState(null, '', url);
  here.set(address);
}

/** As `setQueries`, for one parameter. */
export function setQuery(name: string, value: string | null, isStep = false): void {
  setQueries({ [name]: value }, isStep);
}

/** Returns the current place and the query string. */
export function usePlace(): { place: Place; query: URLSearchParams } {
  const address = useStore(here);
  return useMemo(() => {
    const url = new URL(address, location.origin);
    return { place: parsePlace(url.pathname), query: url.searchParams };
  }, [address]);
}

/** While `isAsked`, closing the tab asks for confirmation. */
export function useUnloadGuard(isAsked: boolean): void {
  useEffect(() => {
    if (!isAsked) return;
    const unload = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener('beforeunload', unload);
    return () => window.removeEventListener('beforeunload', unload);
  }, [isAsked]);
}

/** While `dirty`, leaving the portal asks for confirmation: drafts are lost with the tab. */
export function useLeaveGuard(dirty: boolean): void {
  useUnloadGuard(dirty);
  useEffect(() => {
    if (!dirty) return;
    const guard = () => true;
    guards.add(guard);
    return () => {
      guards.delete(guard);
    };
  }, [dirty]);
}
