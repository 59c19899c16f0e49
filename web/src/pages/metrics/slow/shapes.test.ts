import { expect, test } from 'vitest';
import type { SlowOperation } from './queryOf';
import { shapeOf, shapesOf, textOf } from './shapes';

const slow = (query: string | null, more: Partial<SlowOperation> = {}): SlowOperation => ({
  at: '2026-11-27T03:00:00.000Z',
  api: 'mongo',
  operation: 'find',
  database: 'app',
  collection: 'log',
  duration_ms: 100,
  examined: 1,
  returned: 1,
  query,
  ...more,
});
const sql = (query: string, parameters: unknown[] = []) =>
  slow(JSON.stringify({ query, parameters }), { api: 'nosql', operation: 'query' });

test.each([
  [
    '{ find: "log", filter: { n: { $gt: 1.5 }, at: ISODate("2026-01-01") } }',
    '{ n: { $gt: ? }, at: ? }',
  ],
  [
    '{ find: "log", filter: { n: 1 }, sort: { n: -1 }, projection: { n: 1 }, limit: 5 }',
    '{ n: ? }, projection { n: 1 }, sort { n: -1 }, limit ?',
  ],
  ['{ find: "log", filter: { n: { $in: [1, 2, 3] } } }', '{ n: { $in: [?] } }'],
  ['{ find: "log", filter: { $or: [{ a: 1 }, { b: 2 }] } }', '{ $or: [{ a: ? }, { b: ? }] }'],
  [
    '{ aggregate: "log", pipeline: [{ $match: { a: 1 } }, { $group: { _id: "$user" } }, { $sort: { _id: 1 } }] }',
    '[{ $match: { a: ? } }, { $group: { _id: "$user" } }, { $sort: { _id: 1 } }]',
  ],
  ['{ find: ', '{ find: '],
  [null, null],
])('%s has the shape %s', (query, want) => expect(shapeOf(slow(query))).toBe(want));

test.each([
  [
    "SELECT * FROM c WHERE c.a2 = 'it\\'s 5' AND c.b > 1.5e3",
    'SELECT * FROM c WHERE c.a2 = ? AND c.b > ?',
  ],
  ['SELECT TOP 10 c.id FROM c WHERE c.n IN (1, 2, 3)', 'SELECT TOP ? c.id FROM c WHERE c.n IN (?)'],
  ['SELECT c["a b"][0] FROM c WHERE c.t = ["x"]', 'SELECT c["a b"][?] FROM c WHERE c.t = [?]'],
])('%s has the shape %s', (query, want) => expect(shapeOf(sql(query))).toBe(want));

test('parameters are values', () => {
  const query = 'SELECT * FROM c WHERE c.n = @n';
  const [one, other] = [3, 'x'].map((value) => sql(query, [{ name: '@n', value }]));
  expect(one && other && shapeOf(one) === shapeOf(other)).toBe(true);
  expect(one && textOf(one)).toBe('SELECT * FROM c WHERE c.n = 3');
});

test('those of one shape are one, the one that took longest in all first', () => {
  const find = (n: number, more: Partial<SlowOperation> = {}) =>
    slow(`{ find: "log", filter: { n: ${n} } }`, more);
  const all = [
    find(1, { duration_ms: 300, at: '2026-11-27T03:00:01.000Z' }),
    slow('{ find: "log", filter: { m: 1 } }', { duration_ms: 900 }),
    find(2, { duration_ms: 500, at: '2026-11-27T03:00:09.000Z', failed: true }),
    find(2, { duration_ms: 200, at: '2026-11-27T03:00:05.000Z' }),
    find(3, { collection: 'other' }),
    find(3, { api: 'nosql' }),
    find(3, { operation: 'count' }),
  ];
  const shapes = shapesOf(all);
  expect(shapes).toHaveLength(5);
  const [first, second] = shapes;
  expect(first).toMatchObject({
    ...{ text: '{ n: ? }', longestMs: 500, totalMs: 1000, failed: 1 },
    last: '2026-11-27T03:00:09.000Z',
  });
  expect(first?.operations.map(({ duration_ms }) => duration_ms)).toEqual([500, 200, 300]);
  // A single query is shown with its values.
  expect(second).toMatchObject({ text: '{ m: 1 }', longestMs: 900, totalMs: 900, failed: 0 });
});

test('what is not told is of one shape for each kind', () => {
  const shapes = shapesOf([slow(null), slow(null), slow(null, { operation: 'update' })]);
  expect(shapes.map(({ operations, text }) => [operations.length, text])).toEqual([
    [2, null],
    [1, null],
  ]);
});
