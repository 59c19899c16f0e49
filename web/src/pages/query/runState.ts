// What is known of the executions of a query: the pages of the last one, how it failed, and what the one
// before has left. Pure.
import { ApiError } from '../../api/http';
import type { ResultPage, Run } from './run';

/** Pages that were read, and which of them is shown. */
export interface Read {
  pages: readonly ResultPage[];
  at: number;
}

/** What was read before another execution began, and at which of the server's changes. */
export interface Before extends Read {
  changes: number;
}

export interface Runs extends Read {
  run: Run | null;
  busy: boolean;
  /** When it was last asked, of `performance.now()`. */
  since: number;
  failure: unknown;
  cancelled: boolean;
  /** Stays until the execution has a page of its own; null: nothing was read before. */
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

/** Another execution: what was read at `changes` is of the one before. */
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

/** Whether there is a page behind those that were read, and it can be read. */
export function hasMore({ run, pages }: Runs): boolean {
  return run !== null && pages.at(-1)?.more === true;
}

/** The pages to be shown: those of the execution, or of the one before as long as it has none. */
export function shownOf({ pages, at, before }: Runs): Read {
  return pages.length > 0 || before === null ? { pages, at } : before;
}

/** Shows the page so many further on, within those that were read. */
export function turned(known: Runs, by: 1 | -1): Runs {
  const shown = shownOf(known);
  const at = Math.max(0, Math.min(shown.at + by, shown.pages.length - 1));
  if (shown === known.before) return { ...known, before: { ...known.before, at } };
  return { ...known, at };
}
