import { expect, test } from 'vitest';
import { queryOf, type SlowOperation } from './queryOf';

const slow = (api: string, query: string | null): SlowOperation => ({
  at: '2026-11-27T03:00:00.000Z',
  api,
  operation: 'find',
  database: 'app',
  collection: 'log',
  duration_ms: 123,
  examined: 4540,
  returned: 3,
  query,
});

test.each([
  ['mongo', '{ find: "log", filter: { n: { $gt: 1.5 } } }', { q: '{ n: { $gt: 1.5 } }' }],
  [
    'mongo',
    '{ find: "log", filter: {}, sort: { n: -1 }, projection: { n: 1 }, limit: 5 }',
    { q: '{}', sort: '{ n: -1 }', projection: '{ n: 1 }', limit: '5' },
  ],
  [
    'mongo',
    '{ aggregate: "log", pipeline: [{ $match: { a: 1 } }] }',
    { q: '[{ $match: { a: 1 } }]' },
  ],
  [
    'mongo',
    '{ count: "log", query: { a: ObjectId("65a000000000000000000001") } }',
    {
      q: '{ a: ObjectId("65a000000000000000000001") }',
    },
  ],
  ['mongo', '{ find: ', null],
  ['mongo', `{ find: "log", filter: { a: "${'x'.repeat(2000)}" } }`, null],
  ['mongo', null, null],
  [
    'nosql',
    '{"query":"SELECT * FROM c WHERE c.n = @n AND c.a = \\"@n\\" AND c.b = @nn","parameters":[{"name":"@n","value":"a\\"b"}]}',
    { q: 'SELECT * FROM c WHERE c.n = "a\\"b" AND c.a = "@n" AND c.b = @nn' },
  ],
  ['nosql', '{"query":1}', null],
  ['nosql', 'no JSON', null],
])('%s %s is opened with %j', (api, query, want) =>
  expect(queryOf(slow(api, query))).toEqual(want),
);
