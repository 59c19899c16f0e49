import { expect, test } from 'vitest';
import type { FiguresSample } from '../../api/admin';
import { withEarlier } from './earlier';
import type { OperationRow } from './readings';

const row: OperationRow = {
  ...{ key: 'f', protocol: 'mongodb', name: 'find', total: 9, perSecond: null },
  ...{ p50: null, p95: null, p99: null },
};
const sample = (at_ms: number, api: string, p50_us: number) =>
  ({
    at_ms,
    operations: [{ api, name: 'find', count: 1, p50_us, p99_us: 2 * p50_us }],
  }) as FiguresSample;
const samples = [sample(1, 'mongodb', 500), sample(2, 'mongodb', 700), sample(3, 'nosql', 900)];

test('what this page has not measured is of the newest sample that has it', () => {
  expect(withEarlier([row], samples)).toEqual([
    { ...row, p50: 0.0007, p95: null, p99: 0.0014, until: 2 },
  ]);
});

test('what this page has measured stays, and what nobody has measured is nothing', () => {
  const measured = { ...row, p50: 1, p95: 2, p99: 3 };
  expect(withEarlier([measured], samples)).toEqual([{ ...measured, until: null }]);
  expect(withEarlier([{ ...row, name: 'insert' }], samples)[0]).toMatchObject({
    p50: null,
    until: null,
  });
});
