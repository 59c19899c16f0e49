// What is done to many items at once, and what came of it. Each API has its own way, `nosqlMany` and
// `mongoMany`; nothing here sends or shows anything.
import type { Row, Source } from '../source';
import { type FieldChange, type Path, touched } from './field/change';

export type Act =
  /** null: takes the item's own away. */
  | { kind: 'ttl'; seconds: number | null }
  | { kind: 'touch' }
  | { kind: 'delete' }
  | { kind: 'field'; change: FieldChange };

/** An item before and after a change. */
export interface Pair {
  before: Row;
  /** null: it is not there any more. */
  after: Row | null;
}

export interface Outcome {
  done: Pair[];
  /** What was asked for stood there already, so that they were not written. */
  same: Row[];
  /** Not there any more. */
  gone: string[];
  /** Somebody else was faster: these were left as they are. */
  theirs: string[];
  /** The first sentence of those that failed, and how many did. */
  failed: { count: number; why: string };
}

/** A new one: what is done is added to it. */
export const nothingDone = (): Outcome => ({
  done: [],
  same: [],
  gone: [],
  theirs: [],
  failed: { count: 0, why: '' },
});

/** Some failed, all of them for one reason. */
export const failed = (count: number, why: string): Outcome => ({
  ...nothingDone(),
  failed: { count, why },
});

export function add(to: Outcome, more: Outcome): void {
  // One by one: a call takes only so many arguments.
  for (const pair of more.done) to.done.push(pair);
  for (const row of more.same) to.same.push(row);
  for (const key of more.gone) to.gone.push(key);
  for (const key of more.theirs) to.theirs.push(key);
  to.failed.count += more.failed.count;
  to.failed.why ||= more.failed.why;
}

export interface Many {
  /** How many at most are handed over at once. */
  readonly most: number;
  apply(rows: readonly Row[], act: Act, signal: AbortSignal): Promise<Outcome>;
  /** Gives items what they had at these paths before, where nobody has changed them since. */
  restore(pairs: readonly Pair[], paths: readonly Path[], signal: AbortSignal): Promise<Outcome>;
}

/** The same, where those that were so already count like those that were written. */
export function withSame({ same, ...outcome }: Outcome): Outcome {
  const pairs = same.map((row) => ({ before: row, after: row }));
  return { ...outcome, same: [], done: [...outcome.done, ...pairs] };
}

/** The paths whose values an act replaces: what is put back when it is undone. */
export function pathsOf(act: Act): readonly Path[] {
  return act.kind === 'field' ? touched(act.change) : [['ttl']];
}

/** Of more than these a change of a field is not offered to be undone. */
export const MOST_UNDONE = 500;

/** How long what was deleted can be put back, seconds. */
export const KEPT_SECONDS = 60;
/** So many are deleted within a moment; of more, each second deletes at least as many as these. */
const [MOMENT, A_SECOND] = [100, 25];
/** Of more than these the former state is not held, so that they cannot be put back. */
export const MOST_KEPT = 20_000;

/** Why a deletion cannot be undone; null: it can. */
export function whyAtOnce(source: Pick<Source, 'defaultTtl' | 'perDocument'>, count: number) {
  if (source.defaultTtl === null) return 'TTL is off here';
  if (!source.perDocument) return 'Per-document TTL is off on the Features page';
  return count > MOST_KEPT ? `More than ${MOST_KEPT.toLocaleString('en')} are not kept` : null;
}

/** The `ttl` of so many that are deleted: the first must not expire while the last are deleted and put back. */
export function keptSeconds(n: number): number {
  return n <= MOMENT ? KEPT_SECONDS : KEPT_SECONDS + Math.ceil(n / A_SECOND);
}

/** How long they can be put back when the last was deleted: the first has less time left, and to put them back
 * takes up to twice as long as to delete them did. */
export function undoSeconds(n: number, tookMs: number): number {
  const left = keptSeconds(n) - (n <= MOMENT ? 0 : Math.ceil((3 * tookMs) / 1000));
  return Math.max(5, left);
}

/** The `ttl` of something deleted: it never lives longer than it would have. */
export function lastSeconds(row: Row, nowMs: number, kept: number): number {
  const { expiresAtMs } = row.expiry;
  if (expiresAtMs === null) return kept;
  return Math.max(1, Math.min(kept, Math.floor((expiresAtMs - nowMs) / 1000)));
}
