// Extracts the progress of index builds from `currentOp`. Pure.
import { type Document, numberOf } from '../../../api/mongo';

export interface Build {
  /** Documents processed so far. */
  done: number;
  /** Total number of documents; 0: not known yet. */
  total: number;
}

/** Returns builds by index name. A completed build has no progress. */
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

/** Returns the percentage, below 100 until complete; null: not known yet. */
export function perCent({ done, total }: Build): number | null {
  return total === 0 ? null : Math.min(99, Math.floor((100 * done) / total));
}
