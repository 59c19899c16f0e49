// Parses Prometheus text: samples, histograms, and differences between two scrapes. Knows no metric
// by name.

export interface Sample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

/** A histogram of one label set. Bucket counts are cumulative. */
export interface Histogram {
  labels: Record<string, string>;
  buckets: { le: number; count: number }[];
  sum: number;
  count: number;
}

const LINE = /^([A-Za-z_:][\w:]*)(?:\{(.*)\})?\s+(\S+)/;
const LABEL = /([A-Za-z_]\w*)="((?:[^"\\]|\\.)*)"/g;

function unescaped(text: string): string {
  return text.replace(/\\(.)/g, (_, what: string) => (what === 'n' ? '\n' : what));
}

function numberOf(text: string): number {
  if (/^[+-]?Inf$/.test(text)) return text.startsWith('-') ? -Infinity : Infinity;
  return Number(text);
}

/** Parses samples; other lines are skipped. */
export function parseMetrics(text: string): Sample[] {
  const samples: Sample[] = [];
  for (const line of text.split('\n')) {
    const [, name, labels = '', value = ''] = LINE.exec(line) ?? [];
    if (name === undefined) continue;
    const pairs = [...labels.matchAll(LABEL)];
    samples.push({
      name,
      labels: Object.fromEntries(pairs.map(([, key = '', held = '']) => [key, unescaped(held)])),
      value: numberOf(value),
    });
  }
  return samples;
}

/** Returns the value of a metric without labels; null if absent. */
export function bareValue(samples: readonly Sample[], name: string): number | null {
  const bare = (sample: Sample) => Object.keys(sample.labels).length === 0;
  return samples.find((sample) => sample.name === name && bare(sample))?.value ?? null;
}

/** Returns a key for a label set, independent of the label order. */
export function labelKey(labels: Record<string, string>): string {
  return JSON.stringify(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Returns the histograms of a name, one per label set, in the order of the text. */
export function histograms(samples: readonly Sample[], name: string): Histogram[] {
  const found = new Map<string, Histogram>();
  for (const sample of samples) {
    if (!sample.name.startsWith(`${name}_`)) continue;
    const part = sample.name.slice(name.length + 1);
    if (part !== 'bucket' && part !== 'sum' && part !== 'count') continue;
    const { le, ...labels } = sample.labels;
    const key = labelKey(labels);
    const held = found.get(key) ?? { labels, buckets: [], sum: 0, count: 0 };
    found.set(key, held);
    if (part !== 'bucket') held[part] = sample.value;
    else held.buckets.push({ le: numberOf(le ?? ''), count: sample.value });
  }
  for (const { buckets } of found.values()) buckets.sort((a, b) => a.le - b.le);
  return [...found.values()];
}

/** Returns the increase since an earlier scrape. Lower counters mean a restarted server. */
export function since(now: Histogram, before: Histogram | undefined): Histogram {
  if (before === undefined || before.count > now.count) return now;
  const earlier = new Map(before.buckets.map(({ le, count }) => [le, count]));
  return {
    labels: now.labels,
    buckets: now.buckets.map(({ le, count }) => ({ le, count: count - (earlier.get(le) ?? 0) })),
    sum: now.sum - before.sum,
    count: now.count - before.count,
  };
}

/** Returns a counter's growth per second. */
export function rate(now: number, before: number, seconds: number): number {
  if (seconds <= 0) return 0;
  return (now >= before ? now - before : now) / seconds;
}

/**
 * Estimates the quantile `part` by interpolation within its bucket; null: no observations. Above
 * the last bound, returns that bound.
 */
export function quantile({ buckets, count }: Histogram, part: number): number | null {
  if (count <= 0) return null;
  const wanted = part * count;
  let [below, lower] = [0, 0];
  for (const bucket of buckets) {
    if (bucket.count >= wanted && bucket.count > below) {
      if (bucket.le === Infinity) return lower;
      return lower + ((bucket.le - lower) * (wanted - below)) / (bucket.count - below);
    }
    [below, lower] = [bucket.count, bucket.le];
  }
  return null;
}
