// Which outcomes are shown in the corner of the page, and until when.
import type { Entry } from './log';
import { createStore } from './store';

/** Where the highest of them begins, px from the top of the window; null: there are none. */
export const toastsTop = createStore<number | null>(null);

const SHOWN_MS = 5000;
/** What was not done is read more slowly. */
const WARNED_MS = 12_000;
const MOST = 3;

/** The instant at which an outcome leaves the corner, in the browser's time, ms. */
export function leavesAt(entry: Entry): number {
  if (entry.action !== undefined) return entry.at + entry.action.seconds * 1000;
  return entry.at + (entry.warns === true ? WARNED_MS : SHOWN_MS);
}

/** The newest outcomes that are neither closed nor over; what can be undone is never pushed out. */
export function shownToasts(
  entries: readonly Entry[],
  closed: ReadonlySet<number>,
  nowMs: number,
): Entry[] {
  const due = entries.filter(
    (entry) =>
      (entry.kind === 'done' || entry.warns === true) &&
      !closed.has(entry.id) &&
      leavesAt(entry) > nowMs,
  );
  const isKept = ({ action }: Entry) => action !== undefined && action.minor !== true;
  return due.filter((entry, at) => isKept(entry) || at >= due.length - MOST);
}
