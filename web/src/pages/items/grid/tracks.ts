// How wide the columns of the grid are, and where pinned ones stand still. Pure.
import { EXPIRES } from '../../../pure/columns/columns';
import type { Placed } from '../../../pure/columns/layout';

export interface Tracks {
  /** For `grid-template-columns`. */
  template: string;
  /** px that all columns need. */
  width: number;
  /** Of each column, px from the left edge; null: it moves with the others. */
  pins: readonly (number | null)[];
  /** Of each column, px at the least. */
  widths: readonly number[];
}

/** px of a field, and of one that holds dates, whose seconds are wanted. */
const [FIELD, DATES] = [136, 196];

/** The width of a column that nobody has made wider or narrower. */
export function usualWidth(id: string, idField: string, slim: boolean, hasDates = false): number {
  if (id === idField) return slim ? 160 : 216;
  if (id === EXPIRES) return slim ? 152 : 264;
  return hasDates ? DATES : FIELD;
}

/** Columns that were not resized share what is left; the id and pinned ones do not. */
export function tracksOf(
  placed: readonly Placed[],
  idField: string,
  slim: boolean,
  dates: ReadonlySet<string>,
): Tracks {
  const widths = placed.map(
    ({ id, width }) => width ?? usualWidth(id, idField, slim, dates.has(id)),
  );
  let left = 0;
  const pins = placed.map(({ pinned }, at) => {
    if (!pinned) return null;
    const here = left;
    left += widths[at] ?? 0;
    return here;
  });
  const tracks = placed.map(({ id, width, pinned }, at) => {
    const px = `${widths[at] ?? FIELD}px`;
    return width !== null || pinned || id === idField ? px : `minmax(${px}, 1fr)`;
  });
  return {
    template: tracks.join(' '),
    width: widths.reduce((sum, px) => sum + px, 0),
    pins,
    widths,
  };
}

/** On a small window the time left stands second, and nothing is pinned. */
export function arranged(placed: readonly Placed[], slim: boolean): readonly Placed[] {
  if (!slim) return placed;
  const expires = placed.filter(({ id }) => id === EXPIRES);
  const others = placed.filter(({ id }) => id !== EXPIRES);
  return [...others.slice(0, 1), ...expires, ...others.slice(1)].map((column) => ({
    ...column,
    pinned: false,
  }));
}
