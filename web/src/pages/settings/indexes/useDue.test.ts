import { expect, test } from 'vitest';
import { covers, type Due, dueQuery } from './useDue';

test('documents are due whose date lies as far back as the seconds', () => {
  const rule = { field: 'a.at', seconds: 60, filter: null };
  expect(dueQuery(rule, 100_000)).toEqual({ 'a.at': { $lte: new Date(40_000) } });
  const filter = { open: true };
  expect(dueQuery({ ...rule, filter }, 0)).toEqual({
    $and: [filter, { 'a.at': { $lte: new Date(-60_000) } }],
  });
});

test('consent to a number covers a few more, and to none nothing', () => {
  const known = (documents: number): Due => ({ kind: 'known', documents });
  const failed: Due = { kind: 'failed', text: 'no' };
  const table: [Due, Due, boolean][] = [
    [known(0), known(0), true],
    [known(0), known(1), false],
    [known(3), known(6), true],
    [known(3), known(7), false],
    [known(3), known(1), true],
    // Confirming an unknown number covers any number.
    [failed, known(9), true],
    [failed, failed, true],
    [known(3), failed, false],
    [{ kind: 'asking' }, known(0), false],
  ];
  for (const [told, now, holds] of table) expect(covers(told, now)).toBe(holds);
});
