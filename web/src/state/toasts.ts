// Decides which outcomes are shown as notices, and until when. Outcomes of one topic share a
// notice: it shows the newest and lists the earlier ones that can still be undone.
import type { Entry } from './log';
import { createStore } from './store';

/** Top edge of the highest notice, px from the top of the window; null: no notices. */
export const toastsTop = createStore<number | null>(null);

const SHOWN_MS = 5000;
/** Display time of failures, longer than that of successes. */
const WARNED_MS = 12_000;
const MOST = 3;

/** Outcomes that the user has dismissed or acted on, by id. */
export interface Handled {
  closed: ReadonlySet<number>;
  /** Ids whose action was taken, with the time. */
  taken: ReadonlyMap<number, number>;
}

export interface Notice {
  key: string;
  /** The outcome that is shown. */
  head: Entry;
  /** Whether its action is still available. */
  isOffered: boolean;
  /** Older outcomes whose actions are still available, newest first. */
  earlier: Entry[];
  /** Outcomes that are dismissed with it. */
  ids: number[];
}

/** Returns the time at which an outcome disappears, in ms of the browser's clock. */
export function leavesAt(entry: Entry): number {
  if (entry.action !== undefined) return entry.at + entry.action.seconds * 1000;
  return entry.at + (entry.warns === true ? WARNED_MS : SHOWN_MS);
}

/** Returns the notices that are neither dismissed nor expired, one per topic, newest last. */
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
    // Reinsert: the newest topic comes last.
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

/** Display priority; lower ranks are shown first. */
function rankOf({ head, isOffered, earlier }: Notice): number {
  const offered = [...(isOffered ? [head] : []), ...earlier];
  if (offered.length === 0) return 2;
  return offered.some(({ action }) => action?.minor !== true) ? 0 : 1;
}

/** Selects the newest notice, then those with undo; `behind`: hidden ones with undo. */
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
