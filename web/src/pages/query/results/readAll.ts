// Reads all results of a query, to be saved as a file. They are held in memory, so there is a bound.
import { bytes, count } from '../../../pure/figures/amount';
import type { Run } from '../run';
import { joined, type Results } from './form';

export interface Bound {
  rows: number;
  /** Of the results as text. */
  characters: number;
}

const BOUND: Bound = { rows: 200_000, characters: 256 * 1024 * 1024 };
/** Results that are asked for in one request. */
const AT_ONCE = 1000;

/**
 * Returns all results of a run that has not begun, and ends it. `onRows` hears how many have come. Throws when
 * they exceed the bound, when a request fails, or when `signal` stops it.
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
