import { expect, test } from 'vitest';
import { dueQuery } from './useDue';

test('documents are due whose date lies as far back as the seconds', () => {
  const rule = { field: 'a.at', seconds: 60, filter: null };
  expect(dueQuery(rule, 100_000)).toEqual({ 'a.at': { $lte: new Date(40_000) } });
  const filter = { open: true };
  expect(dueQuery({ ...rule, filter }, 0)).toEqual({
    $and: [filter, { 'a.at': { $lte: new Date(-60_000) } }],
  });
});
