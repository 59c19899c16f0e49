import { expect, test } from 'vitest';
import {
  bareValue,
  type Histogram,
  histograms,
  parseMetrics,
  quantile,
  rate,
  since,
} from './prometheus';

const TEXT = `# HELP ebb_clock_offset_seconds Wall clock minus database time.
# TYPE ebb_clock_offset_seconds gauge
ebb_clock_offset_seconds -3.485
ebb_mongo_insert_total 12
ebb_operation_seconds_sum{protocol="mongodb",command="find"} 0.25
ebb_operation_seconds_count{protocol="mongodb",command="find"} 10
ebb_operation_seconds_bucket{le="0.01",protocol="mongodb",command="find"} 5
ebb_operation_seconds_bucket{le="0.1",protocol="mongodb",command="find"} 9
ebb_operation_seconds_bucket{le="+Inf",protocol="mongodb",command="find"} 10
ebb_operation_seconds_count{protocol="mongodb",command="ping"} 0
odd{a="q\\"uo\\\\te\\n}",b=""} 1e3 1700000000
# EOF`;

const samples = parseMetrics(TEXT);

test.each([
  ['ebb_clock_offset_seconds', -3.485],
  ['ebb_mongo_insert_total', 12],
  ['odd', null],
  ['absent', null],
])('%s without labels is %s', (name, want) => expect(bareValue(samples, name)).toBe(want));

test('labels are taken apart', () => {
  const odd = samples.find((sample) => sample.name === 'odd');
  expect(odd).toEqual({ name: 'odd', labels: { a: 'q"uo\\te\n}', b: '' }, value: 1000 });
});

test('lines that are no samples are left out', () => {
  expect(parseMetrics('\n# x 1\n  \n{a="b"} 3\nname\n')).toEqual([]);
});

test('a histogram is put together by its labels', () => {
  const [find, ping] = histograms(samples, 'ebb_operation_seconds');
  expect(find).toEqual({
    labels: { protocol: 'mongodb', command: 'find' },
    buckets: [
      { le: 0.01, count: 5 },
      { le: 0.1, count: 9 },
      { le: Infinity, count: 10 },
    ],
    sum: 0.25,
    count: 10,
  });
  expect(ping?.count).toBe(0);
});

function made(counts: number[]): Histogram {
  const bounds = [1, 2, 4, Infinity];
  const buckets = counts.map((count, at) => ({ le: bounds[at] ?? 0, count }));
  return { labels: {}, buckets, sum: 0, count: counts.at(-1) ?? 0 };
}

test.each([
  [[10, 10, 10, 10], 0.5, 0.5],
  [[0, 10, 10, 10], 0.5, 1.5],
  [[0, 0, 10, 10], 0.95, 3.9],
  [[5, 10, 10, 10], 0.5, 1],
  [[0, 0, 5, 10], 0.99, 4],
  [[0, 0, 0, 10], 0.5, 4],
  [[0, 0, 0, 0], 0.5, null],
])('of %j the part %d lies below %s', (counts, part, want) => {
  const found = quantile(made(counts), part);
  if (want === null) expect(found).toBeNull();
  else expect(found).toBeCloseTo(want);
});

test.each([
  [
    [4, 6, 8, 8],
    [1, 1, 1, 1],
    [3, 5, 7, 7],
  ],
  [[4, 6, 8, 8], undefined, [4, 6, 8, 8]],
  [
    [1, 1, 1, 1],
    [4, 6, 8, 8],
    [1, 1, 1, 1],
  ],
])('%j since %j is %j', (now, before, want) => {
  const added = since(made(now), before === undefined ? undefined : made(before));
  expect(added.buckets.map(({ count }) => count)).toEqual(want);
  expect(added.count).toBe(want.at(-1));
});

test.each([
  [30, 10, 10, 2],
  [5, 10, 10, 0.5],
  [5, 5, 0, 0],
])('from %d, with %d before, in %d s: %d a second', (now, before, seconds, want) =>
  expect(rate(now, before, seconds)).toBe(want),
);
