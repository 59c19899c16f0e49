// A query of the NoSQL door, page by page.
import { query } from '../../api/nosql';
import { entryOf, printJson, readJson } from '../../pure/json/tree';
import type { Target } from '../../state/place';
import { databaseNow } from '../../state/server';
import { PAGE_ROWS } from './command';
import { checkSize, InputError } from './problem';
import type { ResultPage, Run } from './run';
import { type NosqlFacts, nosqlStatistics } from './statistics';

/** The results of a page with two spaces a level, every number as it was. */
export function resultsOf(pageText: string): string {
  const read = readJson(pageText);
  const results = 'root' in read ? entryOf(read.root, 'Documents') : null;
  return results === null ? pageText : printJson(results.value);
}

export function startNosql(target: Target, text: string): Run {
  checkSize('Query', text);
  if (text.trim() === '') throw new InputError('Type a query.', 'Query', text, null);
  const at = { database: target.database, container: target.collection };
  const facts: NosqlFacts[] = [];
  let continuation: string | null = null;
  const next = async (signal: AbortSignal): Promise<ResultPage> => {
    const ranAtMs = databaseNow();
    const began = performance.now();
    const page = await query<unknown>(at, text, {
      continuation,
      maxItems: PAGE_ROWS,
      metrics: true,
      signal,
    });
    const roundTripMs = performance.now() - began;
    continuation = page.continuation;
    const { charge, metrics, indexMetrics } = page;
    const rows = page.rows.length;
    facts.push({ charge, roundTripMs, rows, metrics, indexMetrics });
    return { text: resultsOf(page.text), rows, roundTripMs, ranAtMs, more: continuation !== null };
  };
  return { next, statistics: async (page) => nosqlStatistics(facts, page), end: () => {} };
}
