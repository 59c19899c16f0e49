import { expect, test } from 'vitest';
import type { FiguresSample } from '../../../api/admin';
import { charts, instants, nearest, path, within } from './lines';

const MINUTE = 60_000;

function sample(at: number, more: Partial<FiguresSample> = {}): FiguresSample {
  return {
    at_ms: at * MINUTE,
    span_ms: MINUTE,
    first: false,
    operations: [],
    mongodb_failed: 0,
    nosql_failed: 0,
    mongodb_connections: 0,
    nosql_connections: 0,
    cursors: 0,
    bytes_in: 0,
    bytes_out: 0,
    expired: 0,
    removed: 0,
    backlog: 0,
    journal_bytes: 0,
    tables_bytes: 0,
    garbage_bytes: 0,
    temporary_bytes: 0,
    memory_bytes: 0,
    operations_bytes: 0,
    ...more,
  };
}

function values(samples: FiguresSample[], title: string, line: string, most?: number) {
  const chart = charts(samples, most).find((one) => one.title === title);
  return chart?.lines.find((one) => one.name === line)?.points.map(({ value }) => value);
}

const op = (api: string, count: number, p99_us: number) => ({
  api,
  name: 'find',
  count,
  p50_us: 1,
  p99_us,
});

test('what happened is a rate, what is stands as it was', () => {
  const samples = [
    sample(1, { operations: [op('mongodb', 60, 500), op('nosql', 6, 9)], mongodb_connections: 3 }),
    sample(2, { operations: [op('mongodb', 30, 2_000_000)], mongodb_connections: 5, expired: 4 }),
  ];
  expect(values(samples, 'Operations per second', 'MongoDB API')).toEqual([1, 0.5]);
  expect(values(samples, 'Operations per second', 'NoSQL API')).toEqual([0.1, 0]);
  expect(values(samples, 'Connections', 'MongoDB API')).toEqual([3, 5]);
  expect(values(samples, 'p99 of the slowest command', 'MongoDB API')).toEqual([0.0005, 2]);
  expect(values(samples, 'Expired documents', 'expired')).toEqual([0, 4]);
});

test('many samples become few points, and nothing of them is lost', () => {
  const samples = Array.from({ length: 1440 }, (_, at) =>
    sample(at, { bytes_in: 60, expired: 1, backlog: at, operations: [op('nosql', 6, at)] }),
  );
  const expired = values(samples, 'Expired documents', 'expired', 100);
  expect(expired).toHaveLength(96);
  expect(expired?.reduce((sum: number, value) => sum + (value ?? 0), 0)).toBe(1440);
  expect(values(samples, 'Bytes per second', 'received', 100)?.every((it) => it === 1)).toBe(true);
  expect(values(samples, 'Expired documents', 'not yet removed', 100)?.at(-1)).toBe(1439);
  expect(values(samples, 'p99 of the slowest command', 'NoSQL API', 100)?.at(-1)).toBe(1439 / 1e6);
});

test('a start is a gap', () => {
  const samples = [sample(1), sample(2), sample(90, { first: true, backlog: 7 }), sample(91)];
  expect(values(samples, 'Expired documents', 'not yet removed')).toEqual([0, 0, null, 7, 0]);
  expect(values(samples, 'Expired documents', 'not yet removed', 1)).toEqual([0, null, 0]);
  const [chart] = charts(samples);
  expect(chart && instants(chart)).toEqual([1, 2, 90, 91].map((at) => at * MINUTE));
});

test('a part of the time', () => {
  const figures = { interval_seconds: 60, samples: [1, 2, 3, 4].map((at) => sample(at)) };
  expect(within(figures, null)).toHaveLength(4);
  const part = within(figures, { from: 2 * MINUTE, to: 3 * MINUTE });
  expect(part.map((it) => it.at_ms / MINUTE)).toEqual([2, 3]);
});

test('a path has a gap where there is no value, and a dot for a point alone', () => {
  const through = (list: (number | null)[]) =>
    path(
      list.map((value, at) => ({ at, value })),
      (at) => at,
      (value) => value,
    );
  expect(through([1, 2, null, 3, null, 4, 5])).toBe('M0.0 1.0L1.0 2.0M3.0 3.0h0.1M5.0 4.0L6.0 5.0');
  expect(through([])).toBe('');
});

test('the nearest instant', () => {
  expect([-5, 0, 4, 6, 99].map((at) => nearest([0, 5, 10], at))).toEqual([0, 0, 1, 1, 2]);
  expect(nearest([], 3)).toBe(-1);
});
