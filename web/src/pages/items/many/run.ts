// Runs a bulk change page by page; can be cancelled between pages.
import { unordered } from '../countQuery';
import type { Cursor, Row, Source } from '../source';
import {
  type Act,
  add,
  lastSeconds,
  nothingDone,
  type Outcome,
  type Pair,
  pathsOf,
  withSame,
} from './many';

export interface Job {
  act: Act;
  /** Whether a deletion sets a `ttl` instead, so that it can be undone. */
  isSoft: boolean;
  /** null: all that match the filter. */
  rows: readonly Row[] | null;
  filter: string;
  /** Items that are already soft-deleted, which are skipped. */
  except: ReadonlyMap<string, number>;
  /** The `ttl` of soft-deleted items. */
  keptSeconds: number;
  nowMs: () => number;
}

const PAGE = 1000;

function* inParts<T>(all: readonly T[], most: number): Generator<readonly T[]> {
  for (let at = 0; at < all.length; at += most) yield all.slice(at, at + most);
}

async function* pages(source: Source, job: Job, signal: AbortSignal) {
  if (job.rows !== null) {
    yield job.rows;
    return;
  }
  // Ordering by a changed field would return the same items again.
  const filter = source.api === 'nosql' ? (unordered(job.filter) ?? job.filter) : job.filter;
  let cursor: Cursor | null = null;
  do {
    const page = await source.load({ filter, sort: null, whole: true }, cursor, PAGE, signal);
    cursor = page.cursor;
    yield page.rows.filter((row) => !job.except.has(row.key));
  } while (cursor !== null && !signal.aborted);
  if (cursor !== null) source.release(cursor);
}

/** Groups rows by operation: items that would expire sooner must not get a longer lifetime. */
function acts(
  rows: readonly Row[],
  { act, isSoft, keptSeconds, nowMs }: Job,
): Map<number, readonly Row[]> {
  if (!isSoft || act.kind !== 'delete') return new Map([[0, rows]]);
  const now = nowMs();
  const groups = new Map<number, Row[]>();
  for (const row of rows) {
    const seconds = lastSeconds(row, now, keptSeconds);
    const group = groups.get(seconds);
    if (group === undefined) groups.set(seconds, [row]);
    else group.push(row);
  }
  return groups;
}

export function looked(outcome: Outcome): number {
  const { done, same, gone, theirs, failed } = outcome;
  return done.length + same.length + gone.length + theirs.length + failed.count;
}

/** Runs the job; returns the outcome up to its end or cancellation. */
export async function runJob(
  source: Source,
  job: Job,
  signal: AbortSignal,
  onProgress: (looked: number) => void,
): Promise<Outcome> {
  const outcome = nothingDone();
  for await (const page of pages(source, job, signal)) {
    for (const part of inParts(page, source.many.most)) {
      for (const [seconds, rows] of acts(part, job)) {
        if (signal.aborted) return outcome;
        const act: Act = seconds === 0 ? job.act : { kind: 'ttl', seconds };
        const done = await source.many.apply(rows, act, signal);
        // A deleted item leaves the list even if its `ttl` did not change.
        add(outcome, act.kind === 'field' ? done : withSame(done));
        onProgress(looked(outcome));
      }
    }
  }
  return outcome;
}

/** Restores what an operation has replaced. */
export async function restore(
  source: Source,
  act: Act,
  pairs: readonly Pair[],
  onProgress: (looked: number) => void,
): Promise<Outcome> {
  const outcome = nothingDone();
  const { signal } = new AbortController();
  for (const part of inParts(pairs, source.many.most)) {
    add(outcome, withSame(await source.many.restore(part, pathsOf(act), signal)));
    onProgress(looked(outcome));
  }
  return outcome;
}
