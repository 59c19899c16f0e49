// Completes abbreviated input to the clauses after "SELECT * FROM c". Pure; the server validates
// them.

/** Keywords that may follow the container's alias. */
const CLAUSE = /^(where|order\s+by|offset|join|group\s+by)\b/i;
/** The start of a query that lists whole items. */
const WHOLE_QUERY = /^select\s+\*\s+from\s+c\b\s*/i;
/** A single identifier or string. */
const ONE_WORD = /^(?:[\w-]+|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')$/;
const CONDITIONS: ReadonlySet<string> = new Set(['true', 'false', 'null', 'undefined']);

/**
 * Completes a filter: a condition gets its WHERE; a single word is taken for an id. Otherwise the
 * query would treat it as an alias of the container, and everything would match.
 */
export function completedFilter(typed: string): string {
  const text = typed.trim().replace(WHOLE_QUERY, '');
  if (text === '' || CLAUSE.test(text)) return text;
  if (!ONE_WORD.test(text) || CONDITIONS.has(text.toLowerCase())) return `WHERE ${text}`;
  return `WHERE c.id = ${/^["']/.test(text) ? text : JSON.stringify(text)}`;
}
