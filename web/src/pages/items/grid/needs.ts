// How wide columns have to be for what the first rows hold, within bounds. Pure.
import { EXPIRES, titleOf } from '../../../pure/columns/columns';
import { isPlainObject } from '../../../pure/values/kind';
import { partsOfPath, valueAtPath } from '../../../pure/values/path';
import { type Row, type Source, shownOf } from '../source';

/** px of a character of a cell and of a head, and what stands around them. */
const [CELL, CELL_ROUND] = [7.8, 20];
const [HEAD, HEAD_ROUND] = [7.2, 56];
/** Rows that say it. */
const ROWS = 100;
/** Widths jump by so much, so that another row hardly moves anything. */
const STEP = 16;

const [LEAST, MOST] = [88, 264];
/** The id stands beside what selects its row, and is read as a name: a longer one loses its middle. */
const [LEAST_ID, MOST_ID, SELECT] = [112, 216, 28];
/** "never (TTL is off)", and a countdown with its instant. */
const [NEVER, INSTANT] = [184, 288];

/** Characters that the widest column holds. */
const WIDEST = Math.ceil((MOST - CELL_ROUND) / CELL);

/** Whether the text of a value is surely longer, so that it need not be made: a value may be a megabyte. */
function isSurelyLonger(value: unknown): boolean {
  if (typeof value === 'string') return value.length > WIDEST;
  if (!Array.isArray(value) && !isPlainObject(value)) return false;
  const inner: unknown[] = Object.values(value);
  return inner.length > WIDEST || inner.some(isSurelyLonger);
}

/** px of each column that nobody has resized. */
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
