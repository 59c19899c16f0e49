// What a query did, from the headers of the NoSQL door and from MongoDB's explain, as lines of a
// table. Pure; what is not there is left out.
import { bytes, count } from '../../pure/figures/amount';
import { latency } from '../../pure/figures/latency';

export interface Statistic {
  name: string;
  value: string;
  /** Over all pages that were read, where that is another number. */
  all?: string;
}

/** "a=1.00;b=2" as numbers. */
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

/** Indexes that were read, as base64 of JSON names them in either of its forms; null: it does not say. */
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

/** Lines for the page that is shown, with sums over all that were read. */
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
  // Where an index has the order, the server counts what it returned instead.
  const isOfResults = parsed.every(
    (one) => one.get('retrievedDocumentSize') === one.get('outputDocumentSize'),
  );
  if (!isOfResults) put('Size of those as stored', 'retrievedDocumentSize', bytes);
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

/** Stages of a plan, the last one first, and the index that one of them reads. */
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

/** Lines of `explain` with `executionStats`. */
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
