// The columns that a user chose for a collection, with order and widths, and their stored form.
// Fields vary with the loaded documents, so absent columns are remembered.
import { type Column, EXPIRES } from './columns';

export interface Placed {
  id: string;
  shown: boolean;
  pinned: boolean;
  /** In pixels; null: automatic. */
  width: number | null;
}

export type Layout = readonly Placed[];

const VERSION = 1;
const MOST_KEPT = 1000;
const SHOWN_FIELDS = 6;
export const NARROWEST = 40;
export const WIDEST = 2000;

const isShort = (id: string) => id.length <= 1000;

/**
 * Returns the default layout: the leading columns and some scalar fields. `isWithoutTtl`: no listed
 * document can expire, so the remaining time is hidden.
 */
export function initialLayout(columns: readonly Column[], isWithoutTtl = false): Layout {
  const fixed = columns.findIndex((column) => column.id === EXPIRES);
  let left = SHOWN_FIELDS;
  return columns.map(({ id, hasParts, isSystem }, at) => {
    const isFixed = at <= fixed;
    if (id === EXPIRES && isWithoutTtl) return { id, shown: false, pinned: false, width: null };
    const shown = isFixed || (!hasParts && !isSystem && left > 0);
    if (shown && !isFixed) left -= 1;
    return { id, shown, pinned: at === 0, width: null };
  });
}

/**
 * Updates a default layout for other documents: shown columns that still exist keep their position;
 * new ones follow, shown while space is left.
 */
export function continued(before: Layout, next: Layout): Layout {
  const fixed = next.findIndex(({ id }) => id === EXPIRES);
  const isFixed = new Set(next.slice(0, fixed + 1).map(({ id }) => id));
  const there = new Set(
    next.filter(({ id, shown }) => shown || !isFixed.has(id)).map(({ id }) => id),
  );
  const stays = before.filter(({ id, shown }) => shown && there.has(id));
  const known = new Set(stays.map(({ id }) => id));
  let left = SHOWN_FIELDS - stays.filter(({ id }) => !isFixed.has(id)).length;
  const others = next.filter(({ id }) => !known.has(id));
  // The remaining time joins the leading columns once a document can expire.
  const joining = others.filter(({ id, shown }) => shown && id === EXPIRES);
  const at = stays.findLastIndex(({ id }) => isFixed.has(id)) + 1;
  return [
    ...stays.slice(0, at),
    ...joining,
    ...stays.slice(at),
    ...others
      .filter((placed) => !joining.includes(placed))
      .map((placed) => {
        if (placed.shown && !isFixed.has(placed.id)) left -= 1;
        return left < 0 ? { ...placed, shown: false } : placed;
      }),
  ];
}

/** Appends columns unknown to the layout, hidden. */
export function merged(layout: Layout, columns: readonly Column[]): Layout {
  const known = new Set(layout.map(({ id }) => id));
  const fresh = columns.filter(({ id }) => !known.has(id));
  return [...layout, ...fresh.map(({ id }) => ({ id, shown: false, pinned: false, width: null }))];
}

/** Returns the columns to render: those shown that exist, pinned ones first. */
export function drawn(layout: Layout, columns: readonly Column[]): Placed[] {
  const there = new Set(columns.map(({ id }) => id));
  const shown = layout.filter((placed) => placed.shown && there.has(placed.id));
  return [...shown.filter(({ pinned }) => pinned), ...shown.filter(({ pinned }) => !pinned)];
}

/** Returns the layout with a change of one column. */
export function changed(layout: Layout, id: string, change: Partial<Omit<Placed, 'id'>>): Layout {
  const width = change.width;
  const bounded =
    typeof width === 'number'
      ? { ...change, width: Math.min(WIDEST, Math.max(NARROWEST, Math.round(width))) }
      : change;
  return layout.map((placed) => (placed.id === id ? { ...placed, ...bounded } : placed));
}

/** Returns the layout with a column moved before another; null: to the end. */
export function moved(layout: Layout, id: string, before: string | null): Layout {
  const taken = layout.find((placed) => placed.id === id);
  if (taken === undefined || id === before) return layout;
  const rest = layout.filter((placed) => placed !== taken);
  const at = rest.findIndex((placed) => placed.id === before);
  return at < 0 ? [...rest, taken] : rest.toSpliced(at, 0, taken);
}

/** Serializes a layout; trailing columns that are hidden and not resized are omitted. */
export function layoutText(layout: Layout): string {
  const last = layout.findLastIndex(({ shown, width }) => shown || width !== null);
  return JSON.stringify({ version: VERSION, columns: layout.slice(0, last + 1) });
}

function readPlaced(value: unknown): Placed | null {
  if (typeof value !== 'object' || value === null) return null;
  const { id, shown, pinned, width } = value as Record<string, unknown>;
  if (typeof id !== 'string' || !isShort(id)) return null;
  const isWidth = typeof width === 'number' && width >= NARROWEST && width <= WIDEST;
  return { id, shown: shown === true, pinned: pinned === true, width: isWidth ? width : null };
}

/** Parses a stored layout; null if it is invalid, from a later version, or shows no column. */
export function readLayout(text: string): Layout | null {
  let read: unknown;
  try {
    read = JSON.parse(text);
  } catch {
    return null;
  }
  if (typeof read !== 'object' || read === null) return null;
  const { version, columns } = read as Record<string, unknown>;
  if (version !== VERSION || !Array.isArray(columns)) return null;
  const found = new Map<string, Placed>();
  for (const placed of columns.slice(0, MOST_KEPT).map(readPlaced)) {
    if (placed !== null && !found.has(placed.id)) found.set(placed.id, placed);
  }
  const layout = [...found.values()];
  return layout.some(({ shown }) => shown) ? layout : null;
}
