import { expect, test } from 'vitest';
import { policyWith } from './policyWith';

const POLICY = {
  indexingMode: 'consistent',
  automatic: true,
  includedPaths: [{ path: '/user/?' }],
  excludedPaths: [{ path: '/*' }, { path: '/n/?' }],
};

test('a path moves to those that are included, and all else stays', () =>
  expect(policyWith(POLICY, { sentence: '', include: ['/n/?'], composite: null })).toEqual({
    indexingMode: 'consistent',
    automatic: true,
    includedPaths: [{ path: '/user/?' }, { path: '/n/?' }],
    excludedPaths: [{ path: '/*' }],
  }));

test('a composite index is one more', () => {
  const first = [{ path: '/a' }, { path: '/b' }];
  const composite = [
    { path: '/n', order: 'ascending' as const },
    { path: '/user', order: 'descending' as const },
  ];
  const advice = { sentence: '', include: [], composite };
  expect(policyWith({ ...POLICY, compositeIndexes: [first] }, advice)).toEqual({
    ...POLICY,
    compositeIndexes: [first, composite],
  });
});
