// A filter of the NoSQL language as a query that counts what fits it. Pure; the server judges it.

const TOKEN = /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|--.*|\/\*[\s\S]*?\*\/|[()[\]{}]|[\w$@.]+/g;

/** The filter without its order; null: it names how many rows it wants. */
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

/** Null: the filter names how many rows it wants, which is no matter of counting. An order has no
 * effect on a count, and is left out. */
export function countQuery(filter: string): string | null {
  const plain = unordered(filter);
  return plain === null ? null : `SELECT VALUE COUNT(1) FROM c ${plain}`.trimEnd();
}
