// The sort order of a list, in the URL and as requested from the database. Pure.
import { EXPIRES } from '../../pure/columns/columns';
import { sortedBy } from '../../pure/values/compare';
import { partsOfPath, valueAtPath } from '../../pure/values/path';
import { type Row, type Source, shownOf } from './source';

export interface Sort {
  column: string;
  direction: 1 | -1;
}

/** Parses the sort in a URL; `-field` is descending; null: none. */
export function readSort(text: string | null): Sort | null {
  if (text === null || text === '' || text === '-') return null;
  return text.startsWith('-')
    ? { column: text.slice(1), direction: -1 }
    : { column: text, direction: 1 };
}

export function sortText(sort: Sort | null): string | null {
  return sort === null ? null : (sort.direction < 0 ? '-' : '') + sort.column;
}

/** Cycles through ascending, descending and none. */
export function nextSort(sort: Sort | null, column: string): Sort | null {
  if (sort?.column !== column) return { column, direction: 1 };
  return sort.direction === 1 ? { column, direction: -1 } : null;
}

/** Sorts by expiry; rows that never expire come last in ascending order. */
function byExpiry(rows: readonly Row[], direction: 1 | -1): Row[] {
  const at = ({ expiry }: Row) => expiry.expiresAtMs ?? Infinity;
  return rows.toSorted((a, b) => {
    const [x, y] = [at(a), at(b)];
    return x === y ? 0 : (x < y ? -1 : 1) * direction;
  });
}

export function sortRows(rows: readonly Row[], sort: Sort, { api }: Source): readonly Row[] {
  if (sort.column === EXPIRES) return byExpiry(rows, sort.direction);
  const parts = partsOfPath(sort.column);
  return sortedBy(rows, (row) => valueAtPath(shownOf(row), parts), api, sort.direction);
}
