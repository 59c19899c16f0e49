// The console log: every request with its status and activity id, and messages of the portal.
import type { Target } from './place';
import { createStore } from './store';

export interface Action {
  label: string;
  onChoose: () => void;
  /** How long the action is offered, in seconds. */
  seconds: number;
  /** If space is short, its notice yields to those of other actions. */
  minor?: boolean;
}

export interface Entry {
  id: number;
  /** Milliseconds of the browser's clock. */
  at: number;
  kind: 'request' | 'done' | 'failed' | 'note';
  text: string;
  /** For a request: method and path without the outcome. */
  about?: string;
  status?: number;
  ms?: number;
  activityId?: string;
  charge?: number;
  /** A failure that is also shown as a notice. */
  warns?: boolean;
  /** A temporary action, e.g. undo. */
  action?: Action;
  /** A newer outcome of the same topic replaces this one's notice. */
  topic?: string;
}

const KEPT = 500;
let last = 0;

/** Newest last. */
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

/** Returns the topic of outcomes of one kind for one collection. Pure. */
export function topicOf(
  kind: 'edit' | 'create' | 'delete' | 'copy' | 'query',
  { door, database, collection }: Target,
): string {
  return `${kind} ${door}/${database}/${collection}`;
}

/** Reports success in the console and as a notice. */
export function toast(told: Toast): void {
  say({ kind: 'done', ...told });
}

/** Reports a failure in the console and as a notice. */
export function warn(text: string): void {
  say({ kind: 'failed', text, warns: true });
}

/** Entries up to this id belong to pages that were left. */
export const turned = createStore(0);

/** Marks the entries so far as belonging to the previous page. */
export function turnPage(): void {
  turned.set(last);
}

/**
 * Returns the outcome to show in the status bar: the last one of this page, unless it is a failure
 * and the same request has succeeded since. Pure.
 */
export function outcomeOf(entries: readonly Entry[], before: number): Entry | undefined {
  const at = entries.findLastIndex(({ kind, id }) => kind !== 'request' && id > before);
  const found = entries[at];
  if (found?.kind !== 'failed' || found.about === undefined) return found;
  const isOver = entries
    .slice(at + 1)
    .some(({ kind, about }) => kind === 'request' && about === found.about);
  return isOver ? undefined : found;
}

/** Log text of a login request. */
const SIGN_IN = 'POST /session';

/** Returns the number of failures after an entry, without failed logins before a success. Pure. */
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
