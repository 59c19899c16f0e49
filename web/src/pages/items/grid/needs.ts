// Computes column widths from the first rows, within limits. Pure.
import { EXPIRES, titleOf } from '../../../pure/columns/columns';
import { isPlainObject } from '../../../pure/values/kind';
import { partsOfPath, valueAtPath } from '../../../pure/values/path';
import { type Row, type Source, shownOf } from '../source';

/** Width of a character and padding of a cell and of a heading, px. */
const [CELL, CELL_ROUND] = [7.8, 20];
const [HEAD, HEAD_ROUND] = [7.2, 56];
const ROWS = 100;
/** Widths are multiples of this, so that another row rarely changes them. */
const STEP = 16;

const [LEAST, MOST] = [88, 264];
/** Limits of the id column, and the width of the checkbox: longer ids are shortened. */
const [LEAST_ID, MOST_ID, SELECT] = [112, 216, 28];
/** Widths of "never (TTL is off)", and of a countdown with its instant. */
const [NEVER, INSTANT] = [184, 288];

/** Characters in the widest column. */
const WIDEST = Math.ceil((MOST - CELL_ROUND) / CELL);

/** Returns whether a text is certainly too long, without building it: it may be a megabyte. */
function isSurelyLonger(value: unknown): boolean {
  if (typeof value === 'string') return value.length > WIDEST;
  if (!Array.isArray(value) && !isPlainObject(value)) return false;
  const inner: unknown[] = Object.values(value);
  return inner.length > WIDEST || inner.some(isSurelyLonger);
}

/** Returns the width in px of each column that the user has not resized. */
export function needsOf(
  rows: readonly Row[],
  columns: readonly string[],
  source: Pick<Source, 'idField' | 'shown'>,
): ReadonlyMap<string, number> {
  const some = rows.slice(0, ROWS);
  const needs = columns.map((id): [string, number] => {
    if (id === EXPIRES) {
      const never = some.every(({ expiry }) => expiry.expiresAtMs === null);
      return [id, never && some.length > 0 ? NEVER : INSTANT];
    }
    const [parts, isId] = [partsOfPath(id), id === source.idField];
    const lengths = some.map((row) => {
      if (isId) return row.name.length;
      const value = valueAtPath(shownOf(row), parts);
      return isSurelyLonger(value) ? WIDEST + 1 : source.shown(value).length;
    });
    const cells = Math.max(0, ...lengths) * CELL + CELL_ROUND + (isId ? SELECT : 0);
    const wanted = Math.max(cells, titleOf(id).length * HEAD + HEAD_ROUND);
    const [least, most] = isId ? [LEAST_ID, MOST_ID] : [LEAST, MOST];
    return [id, Math.min(most, Math.max(least, Math.ceil(wanted / STEP) * STEP))];
  });
  return new Map(needs);
}
