// Reads all results of a query for a file. They are kept in memory, so there is a limit.
import { bytes, count } from '../../../pure/figures/amount';
import type { Run } from '../run';
import { joined, type Results } from './form';

export interface Bound {
  rows: number;
  /** Maximum size of the results as text. */
  characters: number;
}

const BOUND: Bound = { rows: 200_000, characters: 256 * 1024 * 1024 };
const AT_ONCE = 1000;

/**
 * Reads all results of a new run, and ends it. `onRows` receives the number read so far. Throws
 * when the limit is exceeded, a request fails, or `signal` is aborted.
 */
export async function readAll(
  run: Run,
  signal: AbortSignal,
  onRows: (rows: number) => void,
  bound = BOUND,
): Promise<Results | null> {
  const pages: Results[] = [];
  let [rows, characters, more] = [0, 0, true];
  try {
    while (more) {
      const page = await run.next(signal, AT_ONCE);
      signal.throwIfAborted();
      pages.push(page.results);
      rows += page.results.rows.length;
      characters += page.text.length;
      more = page.more;
      if (rows > bound.rows || characters > bound.characters)
        throw new Error(
          `There are more than ${count(bound.rows)} results or ${bytes(bound.characters)}. Narrow the query, or use ebb export.`,
        );
      onRows(rows);
    }
  } finally {
    run.end();
  }
  return joined(pages);
}
