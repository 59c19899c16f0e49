// What is typed as a filter of the NoSQL API, as what stands behind "SELECT * FROM c". Pure; the server judges
// what comes of it.

/** What may follow the name of a container. */
const CLAUSE = /^(where|order\s+by|offset|join|group\s+by)\b/i;
/** The beginning of a query that lists whole items. */
const WHOLE_QUERY = /^select\s+\*\s+from\s+c\b\s*/i;
/** A name alone, or a text. */
const ONE_WORD = /^(?:[\w-]+|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')$/;
const CONDITIONS: ReadonlySet<string> = new Set(['true', 'false', 'null', 'undefined']);

/** A filter with what was left out of it: a condition gets its WHERE, and what can only be an id is looked for.
 * As it is, a name would be another one of the container, and everything would fit. */
export function completedFilter(typed: string): string {
  const text = typed.trim().replace(WHOLE_QUERY, '');
  if (text === '' || CLAUSE.test(text)) return text;
  if (!ONE_WORD.test(text) || CONDITIONS.has(text.toLowerCase())) return `WHERE ${text}`;
  return `WHERE c.id = ${/^["']/.test(text) ? text : JSON.stringify(text)}`;
}
