// Describes the number of rows for the bar above the grid. Pure.
import { count, counted } from '../../pure/figures/amount';

export interface Loaded {
  noun: 'item' | 'document';
  rows: number;
  /** Whether a filter is applied. */
  filtered: boolean;
  /** Whether more rows may follow. */
  open: boolean;
  /** Live documents of the whole collection; null: not known. */
  live: number | null;
  /** Matches in the whole collection; null: not known. */
  matching: number | null;
  /** Whether the first page has been loaded. */
  ready: boolean;
}

/**
 * Describes the number of loaded rows. With a filter, the total of the collection is omitted, since
 * it is unrelated to the matches.
 */
export function loadedWords({ noun, rows, filtered, open, live, matching, ready }: Loaded): string {
  if (filtered && ready) {
    const match = rows === 1 ? 'matches' : 'match';
    if (open && matching !== null) return `${counted(rows, noun)} loaded, ${count(matching)} match`;
    return open
      ? `${counted(rows, noun)} loaded, more may match`
      : `${counted(rows, noun)} ${match}`;
  }
  const loaded = `${counted(rows, noun)} loaded`;
  return filtered || live === null ? loaded : `${loaded}, ${count(live)} live`;
}

/** Returns the message at the row limit; null: all rows are loaded. */
export function boundWords({ rows, filtered, open, live }: Loaded, most: number): string | null {
  if (!open || rows < most || (!filtered && live !== null && live <= rows)) return null;
  return `At most ${count(most)} are shown: narrow the filter to see others.`;
}
