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

/** px of a field of which nothing is known. */
const FIELD = 136;
/** px at the most of the id and of what expires, where there is little room. */
const [SLIM_ID, SLIM_EXPIRES] = [160, 152];

/** The width of a column that nobody has made wider or narrower. */
function usualWidth(id: string, idField: string, slim: boolean, need = FIELD): number {
  if (slim && id === idField) return Math.min(SLIM_ID, need);
  return slim && id === EXPIRES ? Math.min(SLIM_EXPIRES, need) : need;
}

/** Columns that were not resized share what is left, by what they need; the id and pinned ones do not. */
export function tracksOf(
  placed: readonly Placed[],
  idField: string,
  slim: boolean,
  /** px for what columns hold. */
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
