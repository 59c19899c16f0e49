// The address bar and what is shown, kept the same. Leaving the portal with unsaved changes asks first.
import { useEffect, useMemo } from 'react';
import { say, turnPage } from './log';
import { type Place, parsePlace, pathOf } from './place';
import { createStore, useStore } from './store';

const here = createStore(location.pathname + location.search);
const guards = new Set<() => boolean>();

/** Shows an address; a query string alone makes no other page. */
function show(address: string): void {
  const pathOfAddress = (one: string) => one.split('?', 1)[0];
  if (pathOfAddress(address) !== pathOfAddress(here.get())) turnPage();
  here.set(address);
}

window.addEventListener('popstate', () => show(location.pathname + location.search));

function isUnsaved(): boolean {
  return [...guards].some((isDirty) => isDirty());
}

/** Whether nothing is unsaved, or the person goes all the same. */
export function mayEnd(): boolean {
  return (
    !isUnsaved() ||
    window.confirm('There are unsaved changes. This tab keeps them as drafts. Sign out?')
  );
}

/** What the address says of the frame goes with a person from page to page. */
export const CONSOLE = 'console';

function ofEveryPage(): Record<string, string> {
  const shown = new URLSearchParams(location.search).get(CONSOLE);
  return shown === null ? {} : { [CONSOLE]: shown };
}

/** The address of a place, within the portal. */
export function addressOf(place: Place, query: Record<string, string> = {}): string {
  const search = new URLSearchParams(query).toString();
  return pathOf(place) + (search === '' ? '' : `?${search}`);
}

/** Goes to a place. What is not saved stays as a draft. */
export function go(place: Place, query: Record<string, string> = {}): void {
  const path = addressOf(place, { ...query, ...ofEveryPage() });
  if (path === here.get()) return;
  const isKept = isUnsaved();
  history.pushState(null, '', path);
  show(path);
  if (isKept)
    say({ kind: 'note', text: 'What was not saved is kept as a draft, where it was typed.' });
}

/** Sets parts of the query string, or takes them away; a step in the history only where one goes back from it. */
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

/** The same for one part. */
export function setQuery(name: string, value: string | null, isStep = false): void {
  setQueries({ [name]: value }, isStep);
}

/** What is shown, and the query string. */
export function usePlace(): { place: Place; query: URLSearchParams } {
  const address = useStore(here);
  return useMemo(() => {
    const url = new URL(address, location.origin);
    return { place: parsePlace(url.pathname), query: url.searchParams };
  }, [address]);
}

/** While `isAsked`, leaving the tab asks first. */
export function useUnloadGuard(isAsked: boolean): void {
  useEffect(() => {
    if (!isAsked) return;
    const unload = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener('beforeunload', unload);
    return () => window.removeEventListener('beforeunload', unload);
  }, [isAsked]);
}

/** While `dirty`, leaving the portal asks first: drafts are gone with the tab. */
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
