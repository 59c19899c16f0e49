// Which outcomes are shown in the corner of the page, and until when.
import type { Entry } from './log';

const SHOWN_MS = 5000;
const MOST = 3;

/** The instant at which an outcome leaves the corner, in the browser's time, ms. */
export function leavesAt(entry: Entry): number {
  return entry.at + (entry.action === undefined ? SHOWN_MS : entry.action.seconds * 1000);
}

/** The newest outcomes that are neither closed nor over; what can be undone is never pushed out. */
export function shownToasts(
  entries: readonly Entry[],
  closed: ReadonlySet<number>,
  nowMs: number,
): Entry[] {
  const due = entries.filter(
    (entry) => entry.kind === 'done' && !closed.has(entry.id) && leavesAt(entry) > nowMs,
  );
  return due.filter((entry, at) => entry.action !== undefined || at >= due.length - MOST);
}
