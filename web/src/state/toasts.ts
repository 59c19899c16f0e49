// Which outcomes are shown in the corner of the page, and until when. Outcomes of one topic share a notice:
// the newest is said, and what can be taken back of the earlier ones stands behind it.
import type { Entry } from './log';
import { createStore } from './store';

/** Where the highest of them begins, px from the top of the window; null: there are none. */
export const toastsTop = createStore<number | null>(null);

const SHOWN_MS = 5000;
/** What was not done is read more slowly. */
const WARNED_MS = 12_000;
const MOST = 3;

/** What a person has done with outcomes, by their ids. */
export interface Handled {
  closed: ReadonlySet<number>;
  /** Those whose action was chosen, and when. */
  taken: ReadonlyMap<number, number>;
}

export interface Notice {
  key: string;
  /** What is said. */
  head: Entry;
  /** Its action can still be chosen. */
  isOffered: boolean;
  /** Older ones whose actions can still be chosen, the newest first. */
  earlier: Entry[];
  /** Everything that goes when it is closed. */
  ids: number[];
}

/** The instant at which an outcome leaves the corner, in the browser's time, ms. */
export function leavesAt(entry: Entry): number {
  if (entry.action !== undefined) return entry.at + entry.action.seconds * 1000;
  return entry.at + (entry.warns === true ? WARNED_MS : SHOWN_MS);
}

/** What was said and is neither closed nor over, by topics, the newest last. */
export function noticesOf(
  entries: readonly Entry[],
  { closed, taken }: Handled,
  nowMs: number,
): Notice[] {
  const isDue = (entry: Entry) => {
    const took = taken.get(entry.id);
    const until = took === undefined ? leavesAt(entry) : took + SHOWN_MS;
    return (
      (entry.kind === 'done' || entry.warns === true) && !closed.has(entry.id) && until > nowMs
    );
  };
  const found = new Map<string, Notice>();
  for (const entry of entries.filter(isDue)) {
    const key = entry.topic ?? String(entry.id);
    const before = found.get(key);
    // The newest topic comes last.
    found.delete(key);
    found.set(key, {
      key,
      head: entry,
      isOffered: entry.action !== undefined && !taken.has(entry.id),
      earlier:
        before === undefined
          ? []
          : before.isOffered
            ? [before.head, ...before.earlier]
            : before.earlier,
      ids: [...(before?.ids ?? []), entry.id],
    });
  }
  return [...found.values()];
}

/** The smaller, the rather it is in sight. */
function rankOf({ head, isOffered, earlier }: Notice): number {
  const offered = [...(isOffered ? [head] : []), ...earlier];
  if (offered.length === 0) return 2;
  return offered.some(({ action }) => action?.minor !== true) ? 0 : 1;
}

/** Those that are in sight: the newest, and before others what can be undone. `behind` are the others in
 * which something can be undone. */
export function inSight(notices: readonly Notice[]): { shown: Notice[]; behind: Notice[] } {
  const newest = notices.at(-1);
  const rest = notices.slice(0, -1).reverse();
  rest.sort((a, b) => rankOf(a) - rankOf(b));
  const kept = new Set([...(newest === undefined ? [] : [newest]), ...rest].slice(0, MOST));
  return {
    shown: notices.filter((one) => kept.has(one)),
    behind: notices.filter((one) => !kept.has(one) && rankOf(one) < 2),
  };
}
