// Converts the server's samples to lines for the charts of the last day. Renders nothing.
import type { Figures, FiguresSample } from '../../../api/admin';

/** A value at an instant; null: a gap before a start of the server. */
export interface Point {
  at: number;
  value: number | null;
}
export interface Line {
  name: string;
  points: Point[];
}
export interface ChartOf {
  title: string;
  unit: 'rate' | 'count' | 'bytes' | 'time';
  lines: Line[];
}
/** A time range in milliseconds since the epoch. */
export interface Range {
  from: number;
  to: number;
}

/** Maximum points per line: more would share a pixel. */
export const MOST_POINTS = 360;

type Read = (sample: FiguresSample) => number;
/** Aggregation of samples: sums of counters, last values of gauges, maxima of latencies. */
type Join = 'rate' | 'sum' | 'last' | 'most';

interface Spec {
  title: string;
  unit: ChartOf['unit'];
  lines: readonly (readonly [name: string, join: Join, read: Read])[];
}

const done = (api: string): Read => {
  return ({ operations }) =>
    operations.filter((one) => one.api === api).reduce((sum, one) => sum + one.count, 0);
};

/** Highest p99 of all operations of an API, in microseconds. The server excludes long polling. */
const slowest = (api: string): Read => {
  return ({ operations }) =>
    operations
      .filter((one) => one.api === api)
      .reduce((most, one) => Math.max(most, one.p99_us / 1e6), 0);
};

const SPECS: readonly Spec[] = [
  {
    title: 'Operations per second',
    unit: 'rate',
    lines: [
      ['MongoDB API', 'rate', done('mongodb')],
      ['NoSQL API', 'rate', done('nosql')],
    ],
  },
  {
    title: 'Errors per second',
    unit: 'rate',
    lines: [
      ['MongoDB API', 'rate', (sample) => sample.mongodb_failed],
      ['NoSQL API', 'rate', (sample) => sample.nosql_failed],
    ],
  },
  {
    title: 'p99 of the slowest command',
    unit: 'time',
    lines: [
      ['MongoDB API', 'most', slowest('mongodb')],
      ['NoSQL API', 'most', slowest('nosql')],
    ],
  },
  {
    title: 'Connections',
    unit: 'count',
    lines: [
      ['MongoDB API', 'last', (sample) => sample.mongodb_connections],
      ['NoSQL API', 'last', (sample) => sample.nosql_connections],
    ],
  },
  {
    title: 'Bytes per second',
    unit: 'bytes',
    lines: [
      ['received', 'rate', (sample) => sample.bytes_in],
      ['sent', 'rate', (sample) => sample.bytes_out],
    ],
  },
  {
    title: 'Expired documents',
    unit: 'count',
    lines: [
      ['expired', 'sum', (sample) => sample.expired],
      ['removed', 'sum', (sample) => sample.removed],
      ['not yet removed', 'last', (sample) => sample.backlog],
    ],
  },
  {
    title: 'On disk',
    unit: 'bytes',
    lines: [
      ['journal', 'last', (sample) => sample.journal_bytes],
      ['tables', 'last', (sample) => sample.tables_bytes],
      ['to be deleted', 'last', (sample) => sample.garbage_bytes],
      ['temporary', 'last', (sample) => sample.temporary_bytes],
    ],
  },
  {
    title: 'Memory',
    unit: 'bytes',
    lines: [
      ['process', 'last', (sample) => sample.memory_bytes],
      ['operations', 'last', (sample) => sample.operations_bytes],
    ],
  },
];

/** Samples that form one point. */
interface Group {
  samples: FiguresSample[];
  first: boolean;
}

/** Groups consecutive samples into at most `most` groups; a restart starts a new group. */
function groups(samples: readonly FiguresSample[], most: number): Group[] {
  const each = Math.max(1, Math.ceil(samples.length / most));
  const made: Group[] = [];
  for (const sample of samples) {
    const last = made.at(-1);
    if (last === undefined || sample.first || last.samples.length >= each) {
      made.push({ samples: [sample], first: sample.first });
    } else {
      last.samples.push(sample);
    }
  }
  return made;
}

function joined({ samples }: Group, join: Join, read: Read): number {
  const values = samples.map(read);
  const sum = () => values.reduce((sum, value) => sum + value, 0);
  switch (join) {
    case 'sum':
      return sum();
    case 'last':
      return values.at(-1) ?? 0;
    case 'most':
      return Math.max(0, ...values);
    case 'rate': {
      const seconds = samples.reduce((sum, sample) => sum + sample.span_ms, 0) / 1000;
      return seconds > 0 ? sum() / seconds : 0;
    }
  }
}

/** Returns the samples in a time range. */
export function within(figures: Figures, range: Range | null): FiguresSample[] {
  const { samples } = figures;
  if (range === null) return samples;
  return samples.filter(({ at_ms }) => at_ms >= range.from && at_ms <= range.to);
}

/** Returns all charts with at most `most` points per line; each restart of the server is a gap. */
export function charts(samples: readonly FiguresSample[], most = MOST_POINTS): ChartOf[] {
  const joins = groups(samples, most);
  return SPECS.map(({ title, unit, lines }) => ({
    title,
    unit,
    lines: lines.map(([name, join, read]) => ({
      name,
      points: joins.flatMap((group): Point[] => {
        const last = group.samples.at(-1);
        const begin = group.samples[0];
        if (last === undefined || begin === undefined) return [];
        const point = { at: last.at_ms, value: joined(group, join, read) };
        if (!group.first) return [point];
        return [{ at: begin.at_ms - begin.span_ms, value: null }, point];
      }),
    })),
  }));
}

/** Returns the sorted distinct instants that have a value. */
export function instants(chart: ChartOf): number[] {
  const all = chart.lines.flatMap(({ points }) =>
    points.filter(({ value }) => value !== null).map(({ at }) => at),
  );
  return [...new Set(all)].sort((one, other) => one - other);
}

/** Returns the index of the nearest instant; -1 if there are none. */
export function nearest(sorted: readonly number[], at: number): number {
  let best = -1;
  for (const [place, instant] of sorted.entries()) {
    const known = sorted[best];
    if (known === undefined || Math.abs(instant - at) < Math.abs(known - at)) best = place;
  }
  return best;
}

/** Returns an SVG path with gaps for null values. An isolated point is a dot. */
export function path(
  points: readonly Point[],
  x: (at: number) => number,
  y: (value: number) => number,
): string {
  let [text, begun] = ['', false];
  for (const [place, { at, value }] of points.entries()) {
    if (value === null) {
      begun = false;
      continue;
    }
    const here = `${x(at).toFixed(1)} ${y(value).toFixed(1)}`;
    text += `${begun ? 'L' : 'M'}${here}`;
    const next = points[place + 1];
    if (!begun && (next === undefined || next.value === null)) text += 'h0.1';
    begun = true;
  }
  return text;
}
