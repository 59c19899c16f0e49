// Types of bulk changes and their outcomes. `nosqlMany` and `mongoMany` implement them for their
// API; this module does no I/O.
import type { Row, Source } from '../source';
import { type FieldChange, type Path, touched } from './field/change';

export type Act =
  /** Seconds null: removes the item's own ttl. */
  | { kind: 'ttl'; seconds: number | null }
  | { kind: 'touch' }
  | { kind: 'delete' }
  | { kind: 'field'; change: FieldChange };

/** An item before and after a change. */
export interface Pair {
  before: Row;
  /** null: it was deleted. */
  after: Row | null;
}

export interface Outcome {
  done: Pair[];
  /** Already had the requested value and were not written. */
  same: Row[];
  /** Items that have been deleted since. */
  gone: string[];
  /** Were changed concurrently and left as they are. */
  theirs: string[];
  /** Number of failures, and the first error message. */
  failed: { count: number; why: string };
}

/** Returns an empty outcome, to be accumulated by `add`. */
export const nothingDone = (): Outcome => ({
  done: [],
  same: [],
  gone: [],
  theirs: [],
  failed: { count: 0, why: '' },
});

/** Returns an outcome with failures of one reason. */
export const failed = (count: number, why: string): Outcome => ({
  ...nothingDone(),
  failed: { count, why },
});

export function add(to: Outcome, more: Outcome): void {
  // In a loop: `push(...)` is limited by the maximum number of arguments.
  for (const pair of more.done) to.done.push(pair);
  for (const row of more.same) to.same.push(row);
  for (const key of more.gone) to.gone.push(key);
  for (const key of more.theirs) to.theirs.push(key);
  to.failed.count += more.failed.count;
  to.failed.why ||= more.failed.why;
}

export interface Many {
  /** Maximum number of rows per call. */
  readonly most: number;
  apply(rows: readonly Row[], act: Act, signal: AbortSignal): Promise<Outcome>;
  /** Restores the earlier values of items at these paths, unless they were changed since. */
  restore(pairs: readonly Pair[], paths: readonly Path[], signal: AbortSignal): Promise<Outcome>;
}

/** Returns the outcome with unchanged items counted as written. */
export function withSame({ same, ...outcome }: Outcome): Outcome {
  const pairs = same.map((row) => ({ before: row, after: row }));
  return { ...outcome, same: [], done: [...outcome.done, ...pairs] };
}

/** Returns the paths whose values an operation replaces, and undo restores. */
export function pathsOf(act: Act): readonly Path[] {
  return act.kind === 'field' ? touched(act.change) : [['ttl']];
}

/** Maximum number of items for which undo of a field change is offered. */
export const MOST_UNDONE = 500;

/** Time in which a deletion can be undone, seconds. */
export const KEPT_SECONDS = 60;
/** This many are deleted quickly; of more, at least this many per second. */
const [MOMENT, A_SECOND] = [100, 25];
/** Maximum number of items whose former state is kept for undo. */
export const MOST_KEPT = 20_000;

/** Returns why a deletion cannot be undone; null: it can. */
export function whyAtOnce(source: Pick<Source, 'defaultTtl' | 'perDocument'>, count: number) {
  if (source.defaultTtl === null) return 'TTL is off here';
  if (!source.perDocument) return 'Per-document TTL is off on the Features page';
  return count > MOST_KEPT ? `Undo is limited to ${MOST_KEPT.toLocaleString('en')}` : null;
}

/** Returns the `ttl` of soft-deleted items, long enough to delete and restore all of them. */
export function keptSeconds(n: number): number {
  return n <= MOMENT ? KEPT_SECONDS : KEPT_SECONDS + Math.ceil(n / A_SECOND);
}

/**
 * Returns how long undo can be offered after the last deletion: the first item has less time left,
 * and restoring takes up to twice as long as deleting.
 */
export function undoSeconds(n: number, tookMs: number): number {
  const left = keptSeconds(n) - (n <= MOMENT ? 0 : Math.ceil((3 * tookMs) / 1000));
  return Math.max(5, left);
}

/** Returns the `ttl` of a soft-deleted item, which never extends its lifetime. */
export function lastSeconds(row: Row, nowMs: number, kept: number): number {
  const { expiresAtMs } = row.expiry;
  if (expiresAtMs === null) return kept;
  return Math.max(1, Math.min(kept, Math.floor((expiresAtMs - nowMs) / 1000)));
}
