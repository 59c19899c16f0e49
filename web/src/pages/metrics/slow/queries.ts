// Queries of slow operations for the palette: the slowest execution of each, with its URL.
import { count } from '../../../pure/figures/amount';
import type { Target } from '../../../state/place';
import { doorOf, ofOthers, queryOf, type SlowOperation } from './queryOf';
import { readSlow } from './read';

export interface SlowQuery {
  target: Target;
  /** Query parameters of the Query page. */
  query: Record<string, string>;
  took: string;
}

/** Returns the slowest execution of up to `most` queries, without the portal's own. Pure. */
export function slowQueriesOf(operations: readonly SlowOperation[], most: number): SlowQuery[] {
  const sorted = ofOthers(operations).sort((a, b) => b.duration_ms - a.duration_ms);
  const found = new Map<string, SlowQuery>();
  for (const one of sorted) {
    if (found.size >= most) break;
    const query = queryOf(one);
    if (query === null) continue;
    const { database, collection } = one;
    const door = doorOf(one);
    const key = JSON.stringify([door, database, collection, query]);
    if (found.has(key)) continue;
    const took = `${count(one.duration_ms)} ms`;
    found.set(key, { target: { door, database, collection }, query, took });
  }
  return [...found.values()];
}

/** Returns an empty list if the server has none. */
export async function readSlowQueries(most: number): Promise<SlowQuery[]> {
  return slowQueriesOf((await readSlow())?.operations ?? [], most);
}
