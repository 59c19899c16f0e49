// Computes rates, latencies and counters from two scrapes of `/metrics`. Knows the server's metrics
// by name. Pure.
import {
  bareValue,
  type Histogram,
  histograms,
  labelKey,
  parseMetrics,
  quantile,
  rate,
  type Sample,
  since,
} from '../../pure/figures/prometheus';

/** One scrape of the metrics. */
export interface Reading {
  /** Time of `performance.now()`. */
  at: number;
  samples: readonly Sample[];
}

export interface Latencies {
  p50: number | null;
  p95: number | null;
  p99: number | null;
}

export interface OperationRow extends Latencies {
  key: string;
  /** The protocol and the command or route. */
  protocol: string;
  name: string;
  total: number;
  /** null: no earlier scrape yet. */
  perSecond: number | null;
}

export interface CounterRow {
  name: string;
  label: string;
  total: number;
  perSecond: number | null;
}

export const METRICS_MS = 2000;
/** How long scrapes are kept; rates are averages over this window. */
export const WINDOW_MS = 60_000;

export function reading(text: string, at: number): Reading {
  return { at, samples: parseMetrics(text) };
}

/** Appends a scrape, and drops those older than the window. */
export function kept(readings: readonly Reading[], next: Reading): Reading[] {
  return [...readings.filter((one) => next.at - one.at <= WINDOW_MS), next];
}

function latenciesOf(histogram: Histogram): Latencies {
  const [p50, p95, p99] = [0.5, 0.95, 0.99].map((part) => quantile(histogram, part));
  return { p50: p50 ?? null, p95: p95 ?? null, p99: p99 ?? null };
}

/** Returns operations, most frequent first. `recent`: latencies within the window only. */
export function operations(readings: readonly Reading[], recent: boolean): OperationRow[] {
  const [first, last] = [readings[0], readings.at(-1)];
  if (first === undefined || last === undefined) return [];
  const before = new Map(
    histograms(first.samples, 'ebb_operation_seconds').map((one) => [labelKey(one.labels), one]),
  );
  const seconds = (last.at - first.at) / 1000;
  const rows = histograms(last.samples, 'ebb_operation_seconds').map((now) => {
    const key = labelKey(now.labels);
    const earlier = before.get(key);
    const { protocol = '', ...others } = now.labels;
    return {
      key,
      protocol,
      name: Object.values(others).join(' '),
      total: now.count,
      perSecond: seconds > 0 ? rate(now.count, earlier?.count ?? 0, seconds) : null,
      ...latenciesOf(recent ? since(now, earlier) : now),
    };
  });
  return rows.sort((a, b) => b.total - a.total || (a.name < b.name ? -1 : 1));
}

const COUNTERS = [
  { name: 'ebb_mongo_insert_total', label: 'MongoDB inserts' },
  { name: 'ebb_mongo_query_total', label: 'MongoDB queries' },
  { name: 'ebb_mongo_update_total', label: 'MongoDB updates' },
  { name: 'ebb_mongo_delete_total', label: 'MongoDB deletes' },
  { name: 'ebb_mongo_getmore_total', label: 'MongoDB getMores' },
  { name: 'ebb_mongo_command_total', label: 'MongoDB other commands' },
  { name: 'ebb_nosql_requests_total', label: 'NoSQL requests' },
  { name: 'ebb_nosql_failures_total', label: 'NoSQL refused or failed' },
  { name: 'ebb_nosql_denied_total', label: 'NoSQL without a valid signature' },
  { name: 'ebb_nosql_throttled_total', label: 'NoSQL rate limited (429)' },
  { name: 'ebb_nosql_request_units_total', label: 'NoSQL request units' },
];

/** Returns the counters of both APIs; missing ones are omitted. */
export function counters(readings: readonly Reading[]): CounterRow[] {
  const [first, last] = [readings[0], readings.at(-1)];
  if (first === undefined || last === undefined) return [];
  const seconds = (last.at - first.at) / 1000;
  return COUNTERS.flatMap(({ name, label }) => {
    const total = bareValue(last.samples, name);
    if (total === null) return [];
    const before = bareValue(first.samples, name) ?? 0;
    return [{ name, label, total, perSecond: seconds > 0 ? rate(total, before, seconds) : null }];
  });
}

/** Returns the fsync latencies since the start; null: the store does not sync. */
export function fsync(last: Reading): (Latencies & { count: number }) | null {
  const [found] = histograms(last.samples, 'ebb_fsync_seconds');
  return found === undefined ? null : { ...latenciesOf(found), count: found.count };
}

/** Returns the mean number of commits per sync; null: not known. */
export function groupSize(last: Reading): number | null {
  const [found] = histograms(last.samples, 'ebb_group_commit_size');
  return found === undefined || found.count === 0 ? null : found.sum / found.count;
}

/** "0", "0.25", "1,234". */
export function perSecond(value: number | null): string {
  if (value === null) return '–';
  const digits = value >= 100 ? 0 : value >= 10 ? 1 : 2;
  return new Intl.NumberFormat('en', { maximumFractionDigits: digits }).format(value);
}
