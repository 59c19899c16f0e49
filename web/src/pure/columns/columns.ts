// Columns that a list of documents can have: one per field path that occurs. Does not decide which
// are shown.
import { isNumeric, type Kind } from '../values/kind';
import { partsOfPath, pathText } from '../values/path';
import { SYSTEM_FIELDS } from '../values/system';
import { type Seen, Tally } from './tally';

/** Id of the column with the remaining time to live; cannot collide with a field path. */
export const EXPIRES = '\\expires';

export interface Column {
  /** Path of the field, or `EXPIRES`. */
  id: string;
  /** Fraction of documents that have the field, 0 to 1. */
  share: number;
  /** Number of documents by type of the value. */
  kinds: ReadonlyMap<Kind, number>;
  /** Its subfields are columns as well, so it need not be shown. */
  hasParts: boolean;
  /** A field that the server sets. */
  isSystem: boolean;
}

/**
 * Returns the columns in display order: the id, the partition key paths, the remaining time to
 * live, then fields by frequency and first occurrence, and the fields set by the server last.
 * `keys` are paths like `/tenant/id`.
 */
export function columnsFrom(
  { seen, total }: Tally,
  idField: 'id' | '_id',
  keys: readonly string[] = [],
): Column[] {
  const field = (id: string, known: Seen | undefined): Column => ({
    id,
    share: total === 0 || known === undefined ? 0 : known.count / total,
    kinds: known?.kinds ?? new Map(),
    hasParts: known?.hasParts ?? false,
    isSystem: idField === 'id' && SYSTEM_FIELDS.has(id),
  });
  const paths = keys.map((key) => pathText(key.split('/').slice(1)));
  const first = [...new Set([idField, ...paths])];
  const rest = [...seen]
    .filter(([id]) => !first.includes(id))
    .map(([id, known]) => field(id, known))
    .sort((a, b) => Number(a.isSystem) - Number(b.isSystem) || b.share - a.share);
  const expires: Column = {
    id: EXPIRES,
    share: 1,
    kinds: new Map(),
    hasParts: false,
    isSystem: false,
  };
  return [...first.map((id) => field(id, seen.get(id))), expires, ...rest];
}

export function columnsOf(
  documents: Iterable<unknown>,
  idField: 'id' | '_id',
  keys: readonly string[] = [],
): Column[] {
  const tally = new Tally();
  for (const document of documents) tally.add(document);
  return columnsFrom(tally, idField, keys);
}

/** Returns whether a column holds only numbers and null. */
export function isOfNumbers({ kinds }: Column): boolean {
  const some = [...kinds.keys()].filter((kind) => kind !== 'null');
  return some.length > 0 && some.every(isNumeric);
}

/** Returns the heading of a column. An empty field name is shown as quotes. */
export function titleOf(id: string): string {
  if (id === EXPIRES) return 'Expires';
  return partsOfPath(id)
    .map((name) => (name === '' ? '""' : name))
    .join('.');
}
