import { expect, test } from 'vitest';
import { slowQueriesOf } from './queries';
import type { SlowOperation } from './queryOf';

const slow = (duration_ms: number, query: string | null): SlowOperation => ({
  at: '2026-01-01T00:00:00Z',
  api: 'nosql',
  operation: 'query',
  database: 'app',
  collection: 'log',
  duration_ms,
  examined: 1,
  returned: 1,
  query,
});
const text = (q: string) => JSON.stringify({ query: q });

test('each query once, by its slowest, and none that is not told', () => {
  const all = [slow(100, text('A')), slow(2000, text('B')), slow(300, text('A')), slow(9000, null)];
  const found = slowQueriesOf(all, 10).map(({ query, took }) => [query.q, took]);
  expect(found).toEqual([
    ['B', '2,000 ms'],
    ['A', '300 ms'],
  ]);
  expect(slowQueriesOf(all, 1)).toHaveLength(1);
});

test("none of the portal's own", () => {
  const own = { ...slow(5000, text('A')), portal: true };
  expect(slowQueriesOf([own, slow(100, text('A'))], 10).map(({ took }) => took)).toEqual([
    '100 ms',
  ]);
  expect(slowQueriesOf([own], 10)).toEqual([]);
});
