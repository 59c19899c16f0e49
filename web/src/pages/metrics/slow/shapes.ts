// Slow operations of one shape: the same kind of operation, of the same collection, that asks the same of the
// same fields with other values. Pure.
import { parseShell, printShell } from '../../../pure/shell';
import { isPlainObject } from '../../../pure/values/kind';
import { queryOf, type SlowOperation } from './queryOf';

export interface Shape {
  key: string;
  /** What all of them ask, `?` for values; of one alone what it asks; null: it is not told. */
  text: string | null;
  /** The newest first. */
  operations: readonly SlowOperation[];
  longestMs: number;
  totalMs: number;
  /** When the last one ended. */
  last: string;
  failed: number;
}

/** Stands for a value; printed without its quotes. */
const VALUE = '?';
/** The order of a sort and the fields of a projection are no values. */
const WHOLE: ReadonlySet<string> = new Set(['sort', '$sort', 'projection', '$project']);

function withoutValues(value: unknown): unknown {
  if (Array.isArray(value)) {
    const parts = value.map(withoutValues);
    // However many values are listed, it is the same question.
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
  // A field, as an expression names it.
  return typeof value === 'string' && value.startsWith('$') ? value : VALUE;
}

function shellShape(text: string): string {
  const parsed = parseShell(text);
  if ('error' in parsed) return text;
  return printShell(withoutValues(parsed.value), 0).replaceAll('"?"', VALUE);
}

/** Texts, those behind a path's bracket told apart, and numbers. */
const SQL_VALUES = /([\w\])]\s*\[\s*)?(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|(?<![\w.@])\d[\w.]*/g;

function sqlShape(text: string): string {
  const bare = text.replace(SQL_VALUES, (found: string, path?: string) =>
    // In brackets behind a path stands the name of a field.
    path === undefined ? VALUE : found,
  );
  return bare.replace(/\(\?(?:\s*,\s*\?)+\)/g, '(?)');
}

/** What an operation asks, for people: without what the protocol puts around it. */
export function textOf(operation: SlowOperation): string | null {
  const { api, query } = operation;
  if (query === null) return null;
  const parts = queryOf(operation);
  if (parts === null) return query;
  const { q = '', ...others } = parts;
  if (api === 'nosql') return q;
  return [q, ...Object.entries(others).map(([name, text]) => `${name} ${text}`)].join(', ');
}

/** The same with `?` for its values. */
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

/** By shape, the one that took longest in all first. */
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
