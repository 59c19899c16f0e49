// What the bar above the grid says of how many rows there are. Pure.
import { count, counted } from '../../pure/figures/amount';

export interface Loaded {
  noun: 'item' | 'document';
  rows: number;
  /** A filter chose them. */
  filtered: boolean;
  /** More may follow. */
  open: boolean;
  /** Alive in the whole collection; null: not known. */
  live: number | null;
  /** Fit the filter in the whole collection; null: not known. */
  matching: number | null;
  /** The first page has come. */
  ready: boolean;
}

/** What lives in the whole collection is no answer to a filter, and is not said beside one. */
export function loadedWords({ noun, rows, filtered, open, live, matching, ready }: Loaded): string {
  if (filtered && ready) {
    const fit = rows === 1 ? 'fits' : 'fit';
    if (open && matching !== null) return `${counted(rows, noun)} loaded, ${count(matching)} fit`;
    return open ? `${counted(rows, noun)} loaded, more may fit` : `${counted(rows, noun)} ${fit}`;
  }
  const loaded = `${counted(rows, noun)} loaded`;
  return filtered || live === null ? loaded : `${loaded}, ${count(live)} live`;
}

/** What is said when no more rows are loaded than these; null: nothing, since these are all. */
export function boundWords({ rows, filtered, open, live }: Loaded, most: number): string | null {
  if (!open || rows < most || (!filtered && live !== null && live <= rows)) return null;
  return `No more than ${count(most)} are shown: narrow the filter to see others.`;
}
