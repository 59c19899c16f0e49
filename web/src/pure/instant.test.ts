import { expect, test } from 'vitest';
import { instant } from './instant';

test.each([
  [0, '1970-01-01 00:00:00 UTC'],
  [1_795_248_000_999, '2026-11-21 08:00:00 UTC'],
  [2 ** 31 * 1000, '2038-01-19 03:14:08 UTC'],
  [9e18, '9000000000000000000 ms'],
])('%i ms is %s', (ms, want) => expect(instant(ms)).toBe(want));
