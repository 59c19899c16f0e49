// Converts a slow operation to the query parameters of the Query page. Pure.
import { parseShell, printShell } from '../../../pure/shell';
import type { Door } from '../../../state/place';

/** A slow operation as the server reports it. */
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
  /** Received through the admin address, as the portal's own requests are. */
  portal?: boolean;
  /** null: not recorded any more, too long, or a write. */
  query: string | null;
}

/** Filters out the portal's own operations, which polling causes all the time. */
export function ofOthers(operations: readonly SlowOperation[]): SlowOperation[] {
  return operations.filter(({ portal }) => portal !== true);
}

export function doorOf({ api }: SlowOperation): Door {
  return api === 'nosql' ? 'nosql' : 'mongo';
}

type Parts = Record<string, string>;

/** Some proxies refuse longer URLs. */
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

/** Returns the query of a request body with its parameters substituted. */
function partsOfBody(text: string): Parts | null {
  const body = JSON.parse(text) as { query?: unknown; parameters?: unknown };
  if (typeof body.query !== 'string') return null;
  const list = Array.isArray(body.parameters) ? (body.parameters as unknown[]).filter(isTree) : [];
  const values = new Map(list.map(({ name, value }) => [name, JSON.stringify(value)]));
  return { q: body.query.replace(TOKENS, (token) => values.get(token) ?? token) };
}

/** Returns the query parameters; null: the query is unknown or too long for a URL. */
export function queryOf({ api, query, collection }: SlowOperation): Parts | null {
  if (query === null || collection === '') return null;
  try {
    const parts = api === 'nosql' ? partsOfBody(query) : partsOfCommand(query);
    const length = Object.values(parts ?? {}).reduce((all, part) => all + part.length, 0);
    return length > LONGEST ? null : parts;
  } catch {
    // Not parsable: the operation is shown without a link.
    return null;
  }
}
