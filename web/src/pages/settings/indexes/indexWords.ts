// Formats indexes. Pure.
import { EJSON } from 'bson';
import type { Document, IndexRecord } from '../../../api/mongo';
import { inWords } from '../../../pure/time/duration';
import { isTtlIndex } from './ttlIndex';

/** Formats a document on one line with plain numbers. */
export function documentText(value: Document): string {
  return EJSON.stringify(value, { relaxed: true });
}

export function partialOf(index: IndexRecord): Document | null {
  return (index.all.partialFilterExpression as Document | undefined) ?? null;
}

export function filterOf(index: IndexRecord): string | null {
  const filter = partialOf(index);
  return filter === null ? null : documentText(filter);
}

export function isHidden(index: IndexRecord): boolean {
  return index.all.hidden === true;
}

/** Formats seconds; -1 occurs only on `_ts`. */
export function secondsInWords(seconds: number | null): string {
  if (seconds === null) return '';
  if (seconds === -1) return '-1 (no default)';
  return seconds === 0 ? '0 s = at the date itself' : `${seconds} s = ${inWords(seconds)}`;
}

/** Lists the options of an index: "unique, hidden". */
export function traits(index: IndexRecord): string {
  const { all } = index;
  const named = ['unique', 'sparse', 'hidden'].filter((name) => all[name] === true);
  return named.join(', ');
}

/** Returns why an index cannot be hidden or dropped here; null: it can. */
export function whyKept(index: IndexRecord): string | null {
  if (index.name === '_id_') return 'The index on “_id” always exists.';
  return isTtlIndex(index)
    ? 'It stores the default of the collection: change it under Time to live.'
    : null;
}

/** Returns the error of a field name for a TTL index; null: none found. */
export function fieldProblem(field: string): string | null {
  if (field.trim() === '') return 'Enter the name of a field that holds dates.';
  if (field === '_ts')
    return '“_ts” is for the default of the collection: set it under Time to live.';
  if (field === '_id') return 'The index on “_id” cannot make documents expire.';
  return null;
}
