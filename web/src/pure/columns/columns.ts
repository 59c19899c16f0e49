// Which columns a list of documents can have: every path of a field that some of them have. Says nothing
// of which are shown.
import { type Kind, kindOf } from '../values/kind';
import { eachField, partsOfPath, pathText } from '../values/path';
import { SYSTEM_FIELDS } from '../values/system';

export const LEVELS = 3;

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

interface Seen {
  count: number;
  kinds: Map<Kind, number>;
  hasParts: boolean;
}

/** More fields than a person can choose from; documents with names made of data would have no end. */
const MOST = 1000;

function collect(documents: Iterable<unknown>): { seen: Map<string, Seen>; total: number } {
  const seen = new Map<string, Seen>();
  let total = 0;
  for (const document of documents) {
    total += 1;
    eachField(document, LEVELS, (parts, value) => {
      const id = pathText(parts);
      let known = seen.get(id);
      if (known === undefined) {
        if (seen.size >= MOST) return;
        known = { count: 0, kinds: new Map(), hasParts: false };
        seen.set(id, known);
        const above = seen.get(pathText(parts.slice(0, -1)));
        if (parts.length > 1 && above !== undefined) above.hasParts = true;
      }
      const kind = kindOf(value);
      known.count += 1;
      known.kinds.set(kind, (known.kinds.get(kind) ?? 0) + 1);
    });
  }
  return { seen, total };
}

/**
 * The columns in the order of their use: the id, the parts of the key, the time left, and the fields
 * that most documents have, those seen first before others, and last what the
 * server sets. `keys` are paths like `/tenant/id`.
 */
export function columnsOf(
  documents: Iterable<unknown>,
  idField: 'id' | '_id',
  keys: readonly string[] = [],
): Column[] {
  const { seen, total } = collect(documents);
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

/** What stands at the head of a column. */
export function titleOf(id: string): string {
  return id === EXPIRES ? 'Expires' : partsOfPath(id).join('.');
}
