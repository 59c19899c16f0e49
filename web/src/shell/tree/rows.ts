// Computes the rows of the tree from the loaded data, the open nodes and the filter, and handles
// keyboard navigation. Pure.
import type { Door, Place } from '../../state/place';
import type { Branch } from '../../state/tree';

export type Row =
  | { kind: 'database'; door: Door; database: string; open: boolean; at: number; of: number }
  | { kind: 'collection'; door: Door; database: string; name: string; at: number; of: number }
  /** Explains a database without rows: loading, empty, or failed. */
  | { kind: 'note'; door: Door; database: string; text: string; failed: boolean };

/** Returns a key that is unique among the databases of both APIs. */
export function keyOf(door: Door, database: string): string {
  return `${door}/${database}`;
}

/** Returns the unique key of a row, for selection and element ids. */
export function rowKey(row: Row): string {
  const below = row.kind === 'collection' ? [row.name] : row.kind === 'note' ? ['', ''] : [];
  return [row.door, row.database, ...below].map(encodeURIComponent).join('/');
}

function below(branch: Branch, matches: (name: string) => boolean, whole: boolean): Row[] {
  const { door, name: database, collections, failure } = branch;
  const note = (text: string, failed = false): Row[] => [
    { kind: 'note', door, database, text, failed },
  ];
  if (failure !== null) return note(failure, true);
  if (collections === null) return note('Loading…');
  if (collections.length === 0) return note(door === 'nosql' ? 'No containers' : 'No collections');
  const shown = whole ? collections : collections.filter(matches);
  return shown.map((name, at) => ({
    kind: 'collection',
    door,
    database,
    name,
    at: at + 1,
    of: shown.length,
  }));
}

/** Returns the rows. With a filter, every database with a match is open. */
export function rowsOf(
  branches: readonly Branch[],
  open: ReadonlySet<string>,
  filter: string,
): Row[] {
  const wanted = filter.trim().toLowerCase();
  const matches = (name: string) => name.toLowerCase().includes(wanted);
  const shown = branches.filter(
    (branch) => wanted === '' || matches(branch.name) || (branch.collections ?? []).some(matches),
  );
  return shown.flatMap((branch, at): Row[] => {
    const { door, name: database } = branch;
    const whole = wanted === '' || matches(database);
    const isOpen = open.has(keyOf(door, database)) || !whole;
    const line: Row = {
      kind: 'database',
      door,
      database,
      open: isOpen,
      at: at + 1,
      of: shown.length,
    };
    return isOpen ? [line, ...below(branch, matches, whole)] : [line];
  });
}

/** Returns the name by which typing finds a row. */
export function labelOf(row: Row): string {
  switch (row.kind) {
    case 'database':
      return row.database;
    case 'collection':
      return row.name;
    case 'note':
      return row.text;
  }
}

/** Returns the index of a place's row; -1: none. */
export function rowOfPlace(rows: readonly Row[], place: Place): number {
  if (place.page !== 'database' && place.page !== 'collection') return -1;
  const name = place.page === 'collection' ? place.collection : null;
  return rows.findIndex(
    (row) =>
      row.door === place.door &&
      row.database === place.database &&
      (name === null ? row.kind === 'database' : row.kind === 'collection' && row.name === name),
  );
}

/** Returns the index of the enclosing database's row. */
export function parentOf(rows: readonly Row[], at: number): number {
  for (let up = at; up >= 0; up -= 1) if (rows[up]?.kind === 'database') return up;
  return at;
}

/** Returns the next row after `at`, wrapping, that starts with the text; null: no match. */
export function typedTo(rows: readonly Row[], at: number, typed: string): number | null {
  const wanted = typed.toLowerCase();
  // A further letter may still match the current row; a first letter moves on.
  const from = typed.length > 1 ? at : at + 1;
  for (let step = 0; step < rows.length; step += 1) {
    const here = (from + step) % rows.length;
    const row = rows[here];
    if (row !== undefined && row.kind !== 'note' && labelOf(row).toLowerCase().startsWith(wanted)) {
      return here;
    }
  }
  return null;
}
