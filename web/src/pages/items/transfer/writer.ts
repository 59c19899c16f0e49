// What an import needs of an API: how a document is read, and how some of them are written. Each API has
// its own, `mongoWriter` and `nosqlWriter`.
import type { Finish } from '../../../pure/importing/finish';

/** What is done with a document whose id is taken. */
export const ON_EXISTING = ['refuse', 'skip', 'replace'] as const;
export type OnExisting = (typeof ON_EXISTING)[number];

/** Where something stands in the file. */
export interface At {
  /** Which one it is of all, from 0: several can stand in one line. */
  nth: number;
  /** From 1. */
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

/** What became of some documents. */
export interface Written {
  made: number;
  replaced: number;
  skipped: number;
  refused: Refusal[];
}

export interface Writer<T> {
  /** The most documents of one request, and the most text of them in a file. */
  most: { documents: number; characters: number };
  finish: Finish<T>;
  /** Equal for documents that have one id; null: it gets an id of its own. */
  idOf(value: T): string | null;
  write(entries: readonly Entry<T>[], signal: AbortSignal): Promise<Written>;
}

export function nothingWritten(): Written {
  return { made: 0, replaced: 0, skipped: 0, refused: [] };
}

/** Adds up what became of two groups of documents. */
export function together(a: Written, b: Written): Written {
  return {
    made: a.made + b.made,
    replaced: a.replaced + b.replaced,
    skipped: a.skipped + b.skipped,
    refused: [...a.refused, ...b.refused],
  };
}

/** `id` as the API writes it. */
export const takenWords = (id: string) => `The id ${id} is taken.`;
