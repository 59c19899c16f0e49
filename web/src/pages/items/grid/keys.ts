// Keyboard navigation in the grid. Pure.

/** The active position: a row (-1: the header) and a column; column null: the whole row. */
export interface Spot {
  at: number;
  column: number | null;
}

export interface Bounds {
  lastRow: number;
  lastColumn: number;
  /** Number of visible rows. */
  page: number;
}

/** Returns the row that a key moves to; null: another key. Above the first row is the header. */
function rowOf(key: string, at: number, { lastRow, page }: Bounds): number | null {
  switch (key) {
    case 'ArrowDown':
      return Math.min(lastRow, at + 1);
    case 'ArrowUp':
      return Math.max(-1, at - 1);
    case 'PageDown':
      return Math.min(lastRow, at + page);
    case 'PageUp':
      return Math.max(0, at - page);
    case 'Home':
      return 0;
    case 'End':
      return lastRow;
    default:
      return null;
  }
}

/** Left of the first column is the whole row; the header has only columns. */
function columnOf(key: string, { at, column }: Spot, last: number): number | null | undefined {
  if (key === 'ArrowRight') return column === null ? 0 : Math.min(last, column + 1);
  if (key === 'ArrowLeft') {
    if (column === null || column === 0) return at < 0 ? 0 : null;
    return column - 1;
  }
  return undefined;
}

export function led(key: string, from: Spot, bounds: Bounds): Spot | null {
  const column = columnOf(key, from, bounds.lastColumn);
  if (column !== undefined) return { at: from.at, column };
  const at = rowOf(key, from.at, bounds);
  if (at === null || bounds.lastRow < at) return null;
  return { at, column: at < 0 ? (from.column ?? 0) : from.at < 0 ? null : from.column };
}
