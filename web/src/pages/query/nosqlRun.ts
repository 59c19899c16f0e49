// Runs a query of the NoSQL API page by page.
import { query, readContainer } from '../../api/nosql';
import { entryOf, type JsonNode, printJson, readJson } from '../../pure/json/tree';
import { isPlainObject } from '../../pure/values/kind';
import type { Target } from '../../state/place';
import { databaseNow } from '../../state/server';
import { partsOf, valueAt } from '../items/keyPath';
import { keyOf } from '../items/nosqlSource';
import { PAGE_ROWS } from './command';
import { nosqlExplanation } from './explain/nosqlExplain';
import { checkSize, InputError } from './problem';
import { NOSQL_FORM, type Results } from './results/form';
import type { ResultPage, Run } from './run';
import { type NosqlFacts, nosqlStatistics } from './statistics';

/** Parses the results of a page with unchanged numbers; null if it is invalid. */
function nodesOf(pageText: string): JsonNode | null {
  const read = readJson(pageText);
  return 'root' in read ? (entryOf(read.root, 'Documents')?.value ?? null) : null;
}

/** Prints the results of a page, indented by two. */
export function textOf(pageText: string, nodes = nodesOf(pageText)): string {
  return nodes === null ? pageText : printJson(nodes);
}

/** Returns an item's key for the URL of its page; null: no item, or key fields are missing. */
export function itemKey(value: unknown, paths: readonly string[]): string | null {
  if (!isPlainObject(value) || typeof value.id !== 'string') return null;
  const partition = paths.map((path) => valueAt(value, partsOf(path)));
  // A whole item may lack a part of its key; a projection may have omitted it.
  if (partition.includes(undefined) && typeof value._self !== 'string') return null;
  return keyOf({ id: value.id, partition });
}

function resultsOf(
  nodes: JsonNode | null,
  plain: unknown[],
  paths: readonly string[] | null,
): Results {
  const rows = nodes?.kind === 'array' ? nodes.elements : [];
  const keys = plain.map((value) => (paths === null ? null : itemKey(value, paths)));
  return { form: NOSQL_FORM, rows, plain, keys };
}

/** Loads the partition key paths; null on failure. */
async function pathsOf({ database, collection }: Target): Promise<readonly string[] | null> {
  try {
    return (await readContainer(database, collection)).partitionKey.paths;
  } catch {
    return null;
  }
}

export function startNosql(target: Target, text: string): Run {
  checkSize('Query', text);
  if (text.trim() === '') throw new InputError('Enter a query.', 'Query', text, null);
  const at = { database: target.database, container: target.collection };
  const facts: NosqlFacts[] = [];
  let continuation: string | null = null;
  let keyPaths: Promise<readonly string[] | null> | null = null;
  const next = async (signal: AbortSignal, maxItems = PAGE_ROWS): Promise<ResultPage> => {
    const ranAtMs = databaseNow();
    const began = performance.now();
    keyPaths ??= pathsOf(target);
    const page = await query<unknown>(at, text, {
      continuation,
      maxItems,
      metrics: true,
      signal,
    });
    const roundTripMs = performance.now() - began;
    continuation = page.continuation;
    const { charge, metrics, indexMetrics } = page;
    const rows = page.rows.length;
    facts.push({ charge, roundTripMs, rows, metrics, indexMetrics });
    const nodes = nodesOf(page.text);
    const results = resultsOf(nodes, page.rows, await keyPaths);
    return {
      text: textOf(page.text, nodes),
      results,
      roundTripMs,
      ranAtMs,
      more: continuation !== null,
    };
  };
  return {
    next,
    statistics: async (page) => nosqlStatistics(facts, page),
    explain: () => nosqlExplanation(target, text, facts),
    explainsFreely: true,
    end: () => {},
  };
}
