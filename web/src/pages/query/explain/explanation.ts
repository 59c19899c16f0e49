// The explanation of a query: plan, statistics, and the index that would save most of the work.
import type { Explained } from '../../../pure/explain/plan';

export interface Advice {
  /** "This query walked 4,540 documents and returned 3: create { n: 1 }." */
  sentence: string;
  /** Creates the index and returns a message; null: the user must do it. */
  apply: (() => Promise<string>) | null;
}

export interface Explanation {
  plan: Explained;
  /** Indexes that were used; null: not known. */
  indexes: readonly string[] | null;
  advice: Advice | null;
  /** Source of the figures. */
  note: string;
}
