// How far indexes are that are being built, as the server says it of its operations. Pure.
import { type Document, numberOf } from '../../../api/mongo';

export interface Build {
  /** Documents that were looked at. */
  done: number;
  /** Documents that there are; 0: nobody knows yet. */
  total: number;
}

/** By the names of indexes, of the operations that `currentOp` lists. One that is done has no progress. */
export function buildsOf(operations: readonly Document[]): ReadonlyMap<string, Build> {
  const builds = new Map<string, Build>();
  for (const { command, msg, progress } of operations) {
    if (typeof msg !== 'string') continue;
    const { done = 0, total = 0 } = (progress ?? {}) as Record<string, unknown>;
    for (const { name } of ((command as Document).indexes ?? []) as Document[])
      builds.set(String(name), { done: numberOf(done), total: numberOf(total) });
  }
  return builds;
}

/** Below 100 as long as it is not through; null: nobody knows yet. */
export function perCent({ done, total }: Build): number | null {
  return total === 0 ? null : Math.min(99, Math.floor((100 * done) / total));
}
