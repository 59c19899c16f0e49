import { expect, test } from 'vitest';
import { counters, fsync, groupSize, kept, operations, perSecond, reading } from './readings';

function text(finds: number, slow: number, inserts: number): string {
  const labels = 'protocol="mongodb",command="find"';
  return `ebb_mongo_insert_total ${inserts}
ebb_operation_seconds_sum{${labels}} 1
ebb_operation_seconds_count{${labels}} ${finds + slow}
ebb_operation_seconds_bucket{le="0.001",${labels}} ${finds}
ebb_operation_seconds_bucket{le="1.0",${labels}} ${finds + slow}
ebb_operation_seconds_bucket{le="+Inf",${labels}} ${finds + slow}
ebb_operation_seconds_count{protocol="mongodb",command="ping"} 0
ebb_group_commit_size_sum 12
ebb_group_commit_size_count 4`;
}

const readings = [reading(text(100, 0, 5), 1000), reading(text(100, 20, 25), 11_000)];

test('rates and latencies come from what was added', () => {
  const [find, ping] = operations(readings, true);
  expect(find).toMatchObject({ protocol: 'mongodb', name: 'find', total: 120, perSecond: 2 });
  expect(find?.p50).toBeGreaterThan(0.1);
  expect(ping).toMatchObject({ name: 'ping', total: 0, perSecond: 0, p50: null });
});

test('or latencies since the start', () => {
  expect(operations(readings, false)[0]?.p50).toBeLessThan(0.001);
});

test('with one read there are no rates', () => {
  expect(operations(readings.slice(0, 1), true)[0]?.perSecond).toBeNull();
  expect(counters(readings.slice(0, 1))[0]?.perSecond).toBeNull();
});

test('counters that are not there are left out', () => {
  expect(counters(readings)).toEqual([
    { name: 'ebb_mongo_insert_total', label: 'MongoDB inserts', total: 25, perSecond: 2 },
  ]);
});

test('a store in memory has no fsync, and sizes of groups are means', () => {
  const [last] = readings;
  if (last === undefined) throw new Error('no reading');
  expect(fsync(last)).toBeNull();
  expect(groupSize(last)).toBe(3);
});

test('reads older than a minute are forgotten', () => {
  const times = [0, 30_000, 61_000].map((at) => reading('', at));
  const held = times.reduce<typeof times>((known, next) => kept(known, next), []);
  expect(held.map(({ at }) => at)).toEqual([30_000, 61_000]);
});

test.each([
  [null, '–'],
  [0, '0'],
  [0.254, '0.25'],
  [1234.5, '1,235'],
])('%s a second is %s', (value, want) => expect(perSecond(value)).toBe(want));
