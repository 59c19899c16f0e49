// State of the executions of a query: pages of the last one, its error, and the pages of the
// previous one. Pure.
import { ApiError } from '../../api/http';
import type { ResultPage, Run } from './run';

/** Pages that were read, and the index of the shown one. */
export interface Read {
  pages: readonly ResultPage[];
  at: number;
}

/** Pages of the previous execution, and the server's change counter at that time. */
export interface Before extends Read {
  changes: number;
}

export interface Runs extends Read {
  run: Run | null;
  busy: boolean;
  /** Start of the last request, of `performance.now()`. */
  since: number;
  failure: unknown;
  cancelled: boolean;
  /** Kept until the execution has a page of its own; null: none. */
  before: Before | null;
}

export const NOTHING: Runs = {
  run: null,
  pages: [],
  at: 0,
  busy: false,
  since: 0,
  failure: null,
  cancelled: false,
  before: null,
};

/** Starts an execution; earlier pages become those of the previous one. */
export function begun(known: Runs, changes: number): Runs {
  const { pages, at } = known;
  return { ...NOTHING, before: pages.length > 0 ? { pages, at, changes } : known.before };
}

export function withPage(known: Runs, page: ResultPage): Runs {
  const { pages } = known;
  return { ...known, busy: false, pages: [...pages, page], at: pages.length, before: null };
}

export function failed(known: Runs, error: unknown): Runs {
  const cancelled = error instanceof ApiError && error.kind === 'cancelled';
  return { ...known, busy: false, ...(cancelled ? { cancelled } : { failure: error }) };
}

/** Returns whether another page can be read. */
export function hasMore({ run, pages }: Runs): boolean {
  return run !== null && pages.at(-1)?.more === true;
}

/** Returns the pages to show: those of the execution, or of the previous one until it has any. */
export function shownOf({ pages, at, before }: Runs): Read {
  return pages.length > 0 || before === null ? { pages, at } : before;
}

/** Moves to an adjacent page among those read. */
export function turned(known: Runs, by: 1 | -1): Runs {
  const shown = shownOf(known);
  const at = Math.max(0, Math.min(shown.at + by, shown.pages.length - 1));
  if (shown === known.before) return { ...known, before: { ...known.before, at } };
  return { ...known, at };
}
