// Converts headers of the NoSQL API and MongoDB's explain to lines of a statistics table. Pure;
// missing values are omitted.
import { bytes, count } from '../../pure/figures/amount';
import { latency } from '../../pure/figures/latency';

export interface Statistic {
  name: string;
  value: string;
  /** The total over all pages if it differs. */
  all?: string;
}

/** Parses "a=1.00;b=2". */
export function parseQueryMetrics(header: string | null): Map<string, number> {
  const found = new Map<string, number>();
  for (const part of (header ?? '').split(';')) {
    const at = part.indexOf('=');
    const value = Number(part.slice(at + 1));
    if (at > 0 && part.length > at + 1 && !Number.isNaN(value))
      found.set(part.slice(0, at).trim(), value);
  }
  return found;
}

interface IndexSpec {
  IndexSpec?: unknown;
  IndexSpecs?: unknown;
}

/** Returns the used indexes from base64-encoded JSON in either format; null: not reported. */
export function parseIndexUse(header: string | null): string[] | null {
  if (header === null || header === '') return null;
  try {
    const bytesOf = Uint8Array.from(atob(header), (unit) => unit.charCodeAt(0));
    const body = JSON.parse(new TextDecoder().decode(bytesOf)) as {
      UtilizedIndexes?: { SingleIndexes?: IndexSpec[]; CompositeIndexes?: IndexSpec[] };
      UtilizedSingleIndexes?: IndexSpec[];
      UtilizedCompositeIndexes?: IndexSpec[];
    };
    const used = body.UtilizedIndexes;
    const [single, composite] = [
      used?.SingleIndexes ?? body.UtilizedSingleIndexes,
      used?.CompositeIndexes ?? body.UtilizedCompositeIndexes,
    ];
    if (used === undefined && single === undefined && composite === undefined) return null;
    const specs = [...(single ?? []), ...(composite ?? [])];
    return specs
      .flatMap((one) => [one.IndexSpec, one.IndexSpecs].flat())
      .filter((name) => typeof name === 'string');
  } catch {
    return null;
  }
}

export interface NosqlFacts {
  charge: number;
  roundTripMs: number;
  rows: number;
  metrics: string | null;
  indexMetrics: string | null;
}

const units = (charge: number) => `${Number(charge.toFixed(2))} RU`;

/** Returns statistics of the shown page, with totals over all pages. */
export function nosqlStatistics(pages: readonly NosqlFacts[], at: number): Statistic[] {
  const page = pages[at];
  if (page === undefined) return [];
  const parsed = pages.map((one) => parseQueryMetrics(one.metrics));
  const sum = (of: (one: NosqlFacts) => number) => pages.reduce((all, one) => all + of(one), 0);
  const lines: Statistic[] = [
    { name: 'Request charge', value: units(page.charge), all: units(sum((one) => one.charge)) },
    {
      name: 'Round trip',
      value: latency(page.roundTripMs / 1000),
      all: latency(sum((one) => one.roundTripMs) / 1000),
    },
  ];
  const put = (name: string, key: string, words: (value: number) => string) => {
    const value = parsed[at]?.get(key);
    const all = parsed.reduce((total, one) => total + (one.get(key) ?? 0), 0);
    if (value !== undefined) lines.push({ name, value: words(value), all: words(all) });
  };
  put('Documents examined (retrieved)', 'retrievedDocumentCount', count);
  // If an index provides the order, the server reports the size of the output instead.
  const isOfResults = parsed.every(
    (one) => one.get('retrievedDocumentSize') === one.get('outputDocumentSize'),
  );
  if (!isOfResults) put('Size of documents examined', 'retrievedDocumentSize', bytes);
  lines.push({
    name: 'Documents returned',
    value: count(page.rows),
    all: count(sum((one) => one.rows)),
  });
  put('Size of the results as JSON', 'outputDocumentSize', bytes);
  const used = parseIndexUse(page.indexMetrics);
  if (used !== null) {
    lines.push({ name: 'Index used', value: used.length === 0 ? 'none' : used.join(', ') });
  }
  return lines;
}

type Tree = Record<string, unknown>;

function isTree(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null;
}

/** Returns the stages of a plan, last first, and the index used. */
export function planOf(winning: unknown): { stages: string[]; index: string | null } {
  const stages: string[] = [];
  let index: string | null = null;
  for (let stage = winning; isTree(stage) && stages.length < 100; stage = stage.inputStage) {
    if (typeof stage.stage === 'string') stages.push(stage.stage);
    if (typeof stage.indexName === 'string') index = stage.indexName;
  }
  if (index === null && stages.at(-1) === 'IDHACK') index = '_id_';
  return { stages, index };
}

/** Statistics from `explain` with `executionStats`. */
export function mongoStatistics(explained: Tree, roundTripMs: number): Statistic[] {
  const planner = isTree(explained.queryPlanner) ? explained.queryPlanner : {};
  const stats = isTree(explained.executionStats) ? explained.executionStats : {};
  const { stages, index } = planOf(planner.winningPlan);
  const lines: Statistic[] = [
    { name: 'Round trip of the page', value: latency(roundTripMs / 1000) },
  ];
  const put = (name: string, key: string, words: (value: number) => string) => {
    if (stats[key] !== undefined) lines.push({ name, value: words(Number(stats[key])) });
  };
  put('Time on the server', 'executionTimeMillis', (ms) => `${count(ms)} ms`);
  put('Documents examined', 'totalDocsExamined', count);
  put('Index keys examined', 'totalKeysExamined', count);
  put('Documents returned', 'nReturned', count);
  lines.push({ name: 'Index used', value: index ?? 'none' });
  if (stages.length > 0) lines.push({ name: 'Stages', value: stages.join(' ← ') });
  return lines;
}
