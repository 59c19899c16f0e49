// Computes the widths of the grid's columns, and the positions of pinned ones. Pure.
import { EXPIRES } from '../../../pure/columns/columns';
import type { Placed } from '../../../pure/columns/layout';

export interface Tracks {
  /** Value of `grid-template-columns`. */
  template: string;
  /** Minimum width of all columns, px. */
  width: number;
  /** Sticky offset of each column, px from the left edge; null: not pinned. */
  pins: readonly (number | null)[];
  /** Minimum width of each column, px. */
  widths: readonly number[];
}

/** Default width of a field, px. */
const FIELD = 136;
/** Maximum widths of the id and expiry columns if space is short, px. */
const [SLIM_ID, SLIM_EXPIRES] = [160, 152];

/** Returns the width of a column that the user has not resized. */
function usualWidth(id: string, idField: string, slim: boolean, need = FIELD): number {
  if (slim && id === idField) return Math.min(SLIM_ID, need);
  return slim && id === EXPIRES ? Math.min(SLIM_EXPIRES, need) : need;
}

/** Columns not resized share the remaining width by need, except the id and pinned ones. */
export function tracksOf(
  placed: readonly Placed[],
  idField: string,
  slim: boolean,
  /** Widths that the contents need, px. */
  needs: ReadonlyMap<string, number>,
): Tracks {
  const widths = placed.map(
    ({ id, width }) => width ?? usualWidth(id, idField, slim, needs.get(id)),
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
    return width !== null || pinned || id === idField
      ? px
      : `minmax(${px}, ${widths[at] ?? FIELD}fr)`;
  });
  return {
    template: tracks.join(' '),
    width: widths.reduce((sum, px) => sum + px, 0),
    pins,
    widths,
  };
}

/** In a small window the expiry column is second, and nothing is pinned. */
export function arranged(placed: readonly Placed[], slim: boolean): readonly Placed[] {
  if (!slim) return placed;
  const expires = placed.filter(({ id }) => id === EXPIRES);
  const others = placed.filter(({ id }) => id !== EXPIRES);
  return [...others.slice(0, 1), ...expires, ...others.slice(1)].map((column) => ({
    ...column,
    pinned: false,
  }));
}
