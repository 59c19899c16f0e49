// The console: every request with its status and activity id, and what the portal has to say.
import { createStore } from './store';

export interface Entry {
  id: number;
  /** The browser's time, ms. */
  at: number;
  kind: 'request' | 'done' | 'failed' | 'note';
  text: string;
  status?: number;
  ms?: number;
  activityId?: string;
  /** Request units. */
  charge?: number;
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

/** What was said up to this entry is of pages that were left since. */
export const turned = createStore(0);

/** Another page is shown: what was said of the last one says nothing of it. */
export function turnPage(): void {
  turned.set(last);
}

export function clearLog(): void {
  log.set([]);
}
