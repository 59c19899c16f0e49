// Which columns a list of documents can have: every path of a field that some of them have. Says nothing
// of which are shown.
import { isNumeric, type Kind } from '../values/kind';
import { partsOfPath, pathText } from '../values/path';
import { SYSTEM_FIELDS } from '../values/system';
import { type Seen, Tally } from './tally';

/** The column of the time left. No path of a field is written like this. */
export const EXPIRES = '\\expires';

export interface Column {
  /** The path of the field, or `EXPIRES`. */
  id: string;
  /** Part of the documents that have it, 0 to 1. */
  share: number;
  /** Documents by the type of what they have there. */
  kinds: ReadonlyMap<Kind, number>;
  /** Fields below it are columns too, so that it need not be shown. */
  hasParts: boolean;
  /** The server sets it. */
  isSystem: boolean;
}

/**
 * The columns in the order of their use: the id, the parts of the key, the time left, and the fields
 * that most documents have, those seen first before others, and last what the
 * server sets. `keys` are paths like `/tenant/id`.
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

/** The columns of some documents. */
export function columnsOf(
  documents: Iterable<unknown>,
  idField: 'id' | '_id',
  keys: readonly string[] = [],
): Column[] {
  const tally = new Tally();
  for (const document of documents) tally.add(document);
  return columnsFrom(tally, idField, keys);
}

/** Whether a column holds numbers, and nothing else but null. */
export function isOfNumbers({ kinds }: Column): boolean {
  const some = [...kinds.keys()].filter((kind) => kind !== 'null');
  return some.length > 0 && some.every(isNumeric);
}

/** Returns the heading of a column. An empty name of a field is written in quotes. */
export function titleOf(id: string): string {
  if (id === EXPIRES) return 'Expires';
  return partsOfPath(id)
    .map((name) => (name === '' ? '""' : name))
    .join('.');
}
