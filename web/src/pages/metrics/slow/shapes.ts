// Groups slow operations by shape: the same operation on the same collection and fields with other
// values. Pure.
import { parseShell, printShell } from '../../../pure/shell';
import { isPlainObject } from '../../../pure/values/kind';
import { queryOf, type SlowOperation } from './queryOf';

export interface Shape {
  key: string;
  /** The common query with `?` for values; a single query is verbatim; null: not recorded. */
  text: string | null;
  /** The operations, newest first. */
  operations: readonly SlowOperation[];
  longestMs: number;
  totalMs: number;
  /** End time of the last one. */
  last: string;
  failed: number;
}

/** Placeholder of a value; printed without quotes. */
const VALUE = '?';
/** Operators whose arguments belong to the shape: sort directions and projected fields. */
const WHOLE: ReadonlySet<string> = new Set(['sort', '$sort', 'projection', '$project']);

function withoutValues(value: unknown): unknown {
  if (Array.isArray(value)) {
    const parts = value.map(withoutValues);
    // Lists of values of any length have the same shape.
    return parts.length > 0 && parts.every((part) => part === VALUE) ? [VALUE] : parts;
  }
  if (isPlainObject(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([name, part]) => [
        name,
        WHOLE.has(name) ? part : withoutValues(part),
      ]),
    );
  }
  // A field reference in an expression.
  return typeof value === 'string' && value.startsWith('$') ? value : VALUE;
}

function shellShape(text: string): string {
  const parsed = parseShell(text);
  if ('error' in parsed) return text;
  return printShell(withoutValues(parsed.value), 0).replaceAll('"?"', VALUE);
}

/** String and number literals; strings in brackets after a path are field names. */
const SQL_VALUES = /([\w\])]\s*\[\s*)?(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|(?<![\w.@])\d[\w.]*/g;

function sqlShape(text: string): string {
  const bare = text.replace(SQL_VALUES, (found: string, path?: string) =>
    // A string in brackets after a path is a field name.
    path === undefined ? VALUE : found,
  );
  return bare.replace(/\(\?(?:\s*,\s*\?)+\)/g, '(?)');
}

/** Returns the query without its protocol envelope. */
export function textOf(operation: SlowOperation): string | null {
  const { api, query } = operation;
  if (query === null) return null;
  const parts = queryOf(operation);
  if (parts === null) return query;
  const { q = '', ...others } = parts;
  if (api === 'nosql') return q;
  return [q, ...Object.entries(others).map(([name, text]) => `${name} ${text}`)].join(', ');
}

/** As `textOf`, with `?` for values. */
export function shapeOf(operation: SlowOperation): string | null {
  const { api, query } = operation;
  if (query === null) return null;
  const parts = queryOf(operation);
  if (api === 'nosql') return sqlShape(parts?.q ?? query);
  if (parts === null) return shellShape(query);
  const { q = '', ...others } = parts;
  const shown = Object.entries(others).map(([name, text]) =>
    WHOLE.has(name) ? `${name} ${text}` : `${name} ${VALUE}`,
  );
  return [shellShape(q), ...shown].join(', ');
}

const sum = (numbers: readonly number[]) => numbers.reduce((all, one) => all + one, 0);

function summed(key: string, operations: SlowOperation[]): Shape {
  const sorted = operations.sort((a, b) => Date.parse(b.at) - Date.parse(a.at));
  const [first] = sorted;
  const took = sorted.map(({ duration_ms }) => duration_ms);
  const isOne = new Set(sorted.map(({ query }) => query)).size === 1;
  return {
    key,
    text: first === undefined ? null : isOne ? textOf(first) : shapeOf(first),
    operations: sorted,
    longestMs: Math.max(...took),
    totalMs: sum(took),
    last: first?.at ?? '',
    failed: sorted.filter(({ failed }) => failed === true).length,
  };
}

/** Groups operations by shape, largest total duration first. */
export function shapesOf(operations: readonly SlowOperation[]): Shape[] {
  const found = new Map<string, SlowOperation[]>();
  for (const one of operations) {
    const { api, operation, database, collection } = one;
    const key = JSON.stringify([api, operation, database, collection, shapeOf(one)]);
    const alike = found.get(key);
    if (alike === undefined) found.set(key, [one]);
    else alike.push(one);
  }
  const all = [...found].map(([key, alike]) => summed(key, alike));
  return all.sort((a, b) => b.totalMs - a.totalMs);
}
