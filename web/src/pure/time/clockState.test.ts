import { expect, test } from 'vitest';
import { isUnconfirmed } from './clockState';

test.each([
  [null, false],
  [undefined, false],
  [false, false],
  [true, true],
  [{ by_ms: 80_000 }, true],
  [80_000, true],
])('%j is unconfirmed: %s', (unconfirmed, want) =>
  expect(isUnconfirmed({ unconfirmed })).toBe(want),
);
