// The queries of slow operations, for the palette: the slowest of each query, with the way to it.
import { count } from '../../../pure/figures/amount';
import type { Target } from '../../../state/place';
import { doorOf, ofOthers, queryOf, type SlowOperation } from './queryOf';
import { readSlow } from './read';

export interface SlowQuery {
  target: Target;
  /** The parts of the address of the Query page. */
  query: Record<string, string>;
  took: string;
}

/** Of each query the slowest, the slowest first, so many at most, and none of the portal's own. Pure. */
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

/** None where the server does not tell of them. */
export async function readSlowQueries(most: number): Promise<SlowQuery[]> {
  return slowQueriesOf((await readSlow())?.operations ?? [], most);
}
