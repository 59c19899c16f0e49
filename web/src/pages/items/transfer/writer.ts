// The interface of an API for imports: parsing and writing documents. Implemented by `mongoWriter`
// and `nosqlWriter`.
import type { Finish } from '../../../pure/importing/finish';

/** Handling of a document whose id exists. */
export const ON_EXISTING = ['refuse', 'skip', 'replace'] as const;
export type OnExisting = (typeof ON_EXISTING)[number];

export interface At {
  /** Index among all documents, from 0: a line may hold several. */
  nth: number;
  /** Line number from 1. */
  line: number;
}

export interface Entry<T> extends At {
  value: T;
}

export interface Refusal extends At {
  why: string;
}

export function refusal({ nth, line }: At, why: string): Refusal {
  return { nth, line, why };
}

/** Outcome of a batch of documents. */
export interface Written {
  made: number;
  replaced: number;
  skipped: number;
  refused: Refusal[];
}

export interface Writer<T> {
  /** Maximum number of documents per request, and of their characters in the file. */
  most: { documents: number; characters: number };
  finish: Finish<T>;
  /** Returns a string that is equal for equal ids; null: the id will be generated. */
  idOf(value: T): string | null;
  write(entries: readonly Entry<T>[], signal: AbortSignal): Promise<Written>;
}

export function nothingWritten(): Written {
  return { made: 0, replaced: 0, skipped: 0, refused: [] };
}

/** Sums the outcomes of two batches. */
export function together(a: Written, b: Written): Written {
  return {
    made: a.made + b.made,
    replaced: a.replaced + b.replaced,
    skipped: a.skipped + b.skipped,
    refused: [...a.refused, ...b.refused],
  };
}

/** `id`: as written in the API. */
export const takenWords = (id: string) => `The id ${id} already exists.`;
