// The console: every request with its status and activity id, and what the portal has to say.
import type { Target } from './place';
import { createStore } from './store';

export interface Action {
  label: string;
  onChoose: () => void;
  /** How long it is offered, seconds. */
  seconds: number;
  /** What could not be done otherwise comes before it where there is no room for all. */
  minor?: boolean;
}

export interface Entry {
  id: number;
  /** The browser's time, ms. */
  at: number;
  kind: 'request' | 'done' | 'failed' | 'note';
  text: string;
  /** Of a request: what was asked, without what came of it. */
  about?: string;
  status?: number;
  ms?: number;
  activityId?: string;
  /** Request units. */
  charge?: number;
  /** It failed, and is told in the corner of the page too. */
  warns?: boolean;
  /** What can be done about it for a while, e.g. undo. */
  action?: Action;
  /** A newer outcome of the same topic takes its place in the corner. */
  topic?: string;
}

const KEPT = 500;
let last = 0;

/** The newest entry comes last. */
export const log = createStore<readonly Entry[]>([]);

export function say(entry: Omit<Entry, 'id' | 'at'>): void {
  last += 1;
  const made: Entry = { ...entry, id: last, at: Date.now() };
  log.update((entries) => [...entries.slice(-(KEPT - 1)), made]);
}

export interface Toast {
  text: string;
  action?: Action;
  topic?: string;
}

/** The topic of outcomes of one kind about one collection. Pure. */
export function topicOf(
  kind: 'edit' | 'create' | 'delete' | 'copy' | 'query',
  { door, database, collection }: Target,
): string {
  return `${kind} ${door}/${database}/${collection}`;
}

/** Says that something was done, in the console and in the corner of the page. */
export function toast(told: Toast): void {
  say({ kind: 'done', ...told });
}

/** Says the same of something that was not done. */
export function warn(text: string): void {
  say({ kind: 'failed', text, warns: true });
}

/** What was said up to this entry is of pages that were left since. */
export const turned = createStore(0);

/** Another page is shown: what was said of the last one says nothing of it. */
export function turnPage(): void {
  turned.set(last);
}

/** What the bar says: the last outcome of this page, unless the same was asked since and answered. Pure. */
export function outcomeOf(entries: readonly Entry[], before: number): Entry | undefined {
  const at = entries.findLastIndex(({ kind, id }) => kind !== 'request' && id > before);
  const found = entries[at];
  if (found?.kind !== 'failed' || found.about === undefined) return found;
  const isOver = entries
    .slice(at + 1)
    .some(({ kind, about }) => kind === 'request' && about === found.about);
  return isOver ? undefined : found;
}

/** What a request to sign in is called. */
const SIGN_IN = 'POST /session';

/** Returns how many failures came after an entry. A mistyped key is none once the person has signed in. Pure. */
export function failuresAfter(entries: readonly Entry[], seen: number): number {
  const signedIn = entries.findLastIndex(
    ({ kind, about }) => kind === 'request' && about === SIGN_IN,
  );
  return entries.filter(
    ({ kind, id, about }, at) =>
      kind === 'failed' && id > seen && !(about === SIGN_IN && at < signedIn),
  ).length;
}

export function clearLog(): void {
  log.set([]);
}
