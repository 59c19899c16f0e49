// What a query did: its plan, its figures, and the index that would have spared it most of that.
import type { Explained } from '../../../pure/explain/plan';

export interface Advice {
  /** "This query walked 4,540 documents and returned 3: create { n: 1 }." */
  sentence: string;
  /** Makes what is advised, and says so; null: it is for a person to do. */
  apply: (() => Promise<string>) | null;
}

export interface Explanation {
  plan: Explained;
  /** Indexes that were read; null: it is not known. */
  indexes: readonly string[] | null;
  advice: Advice | null;
  /** Where the figures come from. */
  note: string;
}
