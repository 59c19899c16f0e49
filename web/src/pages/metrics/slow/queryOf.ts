// What a slow operation asked, as the address of the Query page takes it. Pure.
import { parseShell, printShell } from '../../../pure/shell';
import type { Door } from '../../../state/place';

/** An operation as the server tells of it. */
export interface SlowOperation {
  at: string;
  api: string;
  operation: string;
  database: string;
  collection: string;
  duration_ms: number;
  examined: number;
  returned: number;
  plan?: string;
  failed?: boolean;
  client?: string;
  /** It came through the admin address, as the portal's own do. */
  portal?: boolean;
  /** null: it is not told any more, or was long, or changed something. */
  query: string | null;
}

/** Those that the portal has not caused itself: whoever looks at them asks for others all the time. */
export function ofOthers(operations: readonly SlowOperation[]): SlowOperation[] {
  return operations.filter(({ portal }) => portal !== true);
}

export function doorOf({ api }: SlowOperation): Door {
  return api === 'nosql' ? 'nosql' : 'mongo';
}

type Parts = Record<string, string>;

/** Longer addresses are refused by some on their way. */
const LONGEST = 2000;

function isTree(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function partsOfCommand(text: string): Parts | null {
  const parsed = parseShell(text);
  const command = 'error' in parsed ? null : parsed.value;
  if (!isTree(command)) return null;
  const [name = ''] = Object.keys(command);
  const shown = (value: unknown) => printShell(value, 0);
  if (name === 'aggregate') {
    return Array.isArray(command.pipeline) ? { q: shown(command.pipeline) } : null;
  }
  const filter = command.filter ?? command.query;
  const parts: Parts = { q: isTree(filter) ? shown(filter) : '{}' };
  for (const option of ['projection', 'sort', 'limit'])
    if (command[option] !== undefined) parts[option] = shown(command[option]);
  return parts;
}

const TOKENS = /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|@\w+/g;

/** The query of a request's body, with its parameters' values in their places. */
function partsOfBody(text: string): Parts | null {
  const body = JSON.parse(text) as { query?: unknown; parameters?: unknown };
  if (typeof body.query !== 'string') return null;
  const list = Array.isArray(body.parameters) ? (body.parameters as unknown[]).filter(isTree) : [];
  const values = new Map(list.map(({ name, value }) => [name, JSON.stringify(value)]));
  return { q: body.query.replace(TOKENS, (token) => values.get(token) ?? token) };
}

/** The parts of the address; null: what it asked is not known, or no address holds it. */
export function queryOf({ api, query, collection }: SlowOperation): Parts | null {
  if (query === null || collection === '') return null;
  try {
    const parts = api === 'nosql' ? partsOfBody(query) : partsOfCommand(query);
    const length = Object.values(parts ?? {}).reduce((all, part) => all + part.length, 0);
    return length > LONGEST ? null : parts;
  } catch {
    // It is neither; the operation is shown without a way to its query.
    return null;
  }
}
