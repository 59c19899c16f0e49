// Converts a NoSQL filter to a query that counts its matches. Pure; the server validates it.

const TOKEN = /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|--.*|\/\*[\s\S]*?\*\/|[()[\]{}]|[\w$@.]+/g;

/** Returns the filter without ORDER BY; null: it has OFFSET or LIMIT. */
export function unordered(filter: string): string | null {
  let depth = 0;
  let end = filter.length;
  for (const { 0: token, index } of filter.matchAll(TOKEN)) {
    if ('([{'.includes(token)) depth += 1;
    else if (')]}'.includes(token)) depth -= 1;
    else if (depth === 0 && /^(offset|limit)$/i.test(token)) return null;
    else if (depth === 0 && /^order$/i.test(token) && /^order\s+by\b/i.test(filter.slice(index))) {
      end = Math.min(end, index);
    }
  }
  return filter.slice(0, end);
}

/**
 * Returns the counting query without ORDER BY, which does not affect a count. Null: OFFSET or LIMIT
 * limit the rows, so there is nothing to count.
 */
export function countQuery(filter: string): string | null {
  const plain = unordered(filter);
  return plain === null ? null : `SELECT VALUE COUNT(1) FROM c ${plain}`.trimEnd();
}
