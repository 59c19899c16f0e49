import { Int32, Long } from 'bson';
import { expect, test } from 'vitest';
import {
  mongoStatistics,
  nosqlStatistics,
  parseIndexUse,
  parseQueryMetrics,
  planOf,
} from './statistics';

test.each([
  [
    'a=1.00;b=2',
    [
      ['a', 1],
      ['b', 2],
    ],
  ],
  ['a=;=3;b;c=x;d=4', [['d', 4]]],
  ['', []],
  [null, []],
])('%j holds %j', (header, want) => expect([...parseQueryMetrics(header)]).toEqual(want));

const encoded = (value: unknown) => btoa(JSON.stringify(value));

test.each([
  [
    encoded({
      UtilizedIndexes: { SingleIndexes: [{ IndexSpec: '/user/?' }], CompositeIndexes: [] },
    }),
    ['/user/?'],
  ],
  [
    encoded({ UtilizedIndexes: { CompositeIndexes: [{ IndexSpecs: ['/a ASC', '/b DESC'] }] } }),
    ['/a ASC', '/b DESC'],
  ],
  [
    encoded({ UtilizedSingleIndexes: [{ IndexSpec: '/n/?' }], UtilizedCompositeIndexes: [] }),
    ['/n/?'],
  ],
  [encoded({ UtilizedIndexes: {} }), []],
  [encoded({}), null],
  ['%%%', null],
  ['', null],
  [null, null],
])('%s names %j', (header, want) => expect(parseIndexUse(header)).toEqual(want));

test('sums go over all pages, and the page is its own', () => {
  const metrics = 'retrievedDocumentCount=100;outputDocumentCount=10';
  const page = { charge: 2.5, roundTripMs: 2, rows: 10, metrics, indexMetrics: null };
  const lines = nosqlStatistics([page, { ...page, charge: 1.25, rows: 3 }], 1);
  const by = new Map(lines.map((line) => [line.name, [line.value, line.all]]));
  expect(by.get('Request charge')).toEqual(['1.25 RU', '3.75 RU']);
  expect(by.get('Documents examined (retrieved)')).toEqual(['100', '200']);
  expect(by.get('Documents returned')).toEqual(['3', '13']);
  expect(by.has('Index used')).toBe(false);
  expect(nosqlStatistics([], 0)).toEqual([]);
});

test('sizes say in which form they were measured, and one that was not measured is left out', () => {
  const sizes = (metrics: string) =>
    nosqlStatistics([{ charge: 1, roundTripMs: 1, rows: 1, metrics, indexMetrics: null }], 0)
      .filter(({ name }) => name.startsWith('Size'))
      .map(({ name, value }) => `${name}: ${value}`);
  expect(sizes('retrievedDocumentSize=1024;outputDocumentSize=2048')).toEqual([
    'Size of documents examined: 1.0 KB',
    'Size of the results as JSON: 2.0 KB',
  ]);
  expect(sizes('retrievedDocumentSize=2048;outputDocumentSize=2048')).toEqual([
    'Size of the results as JSON: 2.0 KB',
  ]);
});

const fetch = { stage: 'FETCH', inputStage: { stage: 'IXSCAN', indexName: 'n_1' } };

test.each([
  [{ stage: 'LIMIT', inputStage: fetch }, ['LIMIT', 'FETCH', 'IXSCAN'], 'n_1'],
  [{ stage: 'COLLSCAN' }, ['COLLSCAN'], null],
  [{ stage: 'IDHACK' }, ['IDHACK'], '_id_'],
  [undefined, [], null],
])('of %j the stages are %j and the index is %s', (winning, stages, index) =>
  expect(planOf(winning)).toEqual({ stages, index }),
);

test('explain becomes lines, whatever the types of its numbers', () => {
  const explained = {
    queryPlanner: { winningPlan: fetch },
    executionStats: {
      nReturned: Long.fromNumber(3),
      totalDocsExamined: new Int32(20),
      totalKeysExamined: Long.fromNumber(20),
      executionTimeMillis: Long.fromNumber(1),
    },
  };
  expect(mongoStatistics(explained, 1.5)).toEqual([
    { name: 'Round trip of the page', value: '1.5 ms' },
    { name: 'Time on the server', value: '1 ms' },
    { name: 'Documents examined', value: '20' },
    { name: 'Index keys examined', value: '20' },
    { name: 'Documents returned', value: '3' },
    { name: 'Index used', value: 'n_1' },
    { name: 'Stages', value: 'FETCH ← IXSCAN' },
  ]);
});
