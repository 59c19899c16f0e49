import { expect, test } from 'vitest';
import type { Expiry } from '../../pure/ttl/reasons';
import { isWithoutTtl, shownExpiry } from './expires';
import type { Row } from './source';
import { living } from './useRows';

test.each<[Expiry, number | null, object]>([
  [
    { expiresAtMs: null, by: null, reason: 'never (no default)' },
    0,
    { at: '', left: '', near: 'far', reason: 'never (no default)' },
  ],
  [
    { expiresAtMs: 60_000, by: 'ttl', reason: null },
    0,
    { at: '1970-01-01 00:01:00', left: '01:00', near: 'hour', reason: '' },
  ],
  [{ expiresAtMs: 3_600_000, by: 'ttl', reason: null }, 0, { left: '01:00:00', near: 'day' }],
  [
    { expiresAtMs: 1500, by: 'at_1', reason: 'by index at_1' },
    null,
    { at: '1970-01-01 00:00:01.500', left: '', near: 'far' },
  ],
  [{ expiresAtMs: 59_999, by: 'ttl', reason: null }, 0, { near: 'minute' }],
  [{ expiresAtMs: 86_400_000, by: 'ttl', reason: null }, 0, { near: 'far' }],
  [{ expiresAtMs: 1e17, by: 'ttl', reason: null }, 0, { at: 'out of range' }],
])('%o at %s', (expiry, now, want) => expect(shownExpiry(expiry, now)).toMatchObject(want));

test('rows leave at their instant, not before', () => {
  const row = (expiresAtMs: number | null): Row => ({
    key: String(expiresAtMs),
    name: '',
    value: {},
    ref: null,
    expiry: { expiresAtMs, by: null, reason: null },
  });
  const rows = [row(1000), row(null), row(2000)];
  expect(living(rows, 999)).toBe(rows);
  expect(living(rows, 1000).map(({ key }) => key)).toEqual(['null', '2000']);
});

test('nothing but "TTL is off" is to be said of rows that cannot expire', () => {
  const off = { expiry: { expiresAtMs: null, by: null, reason: 'never (TTL is off)' } };
  const ignored = { expiry: { ...off.expiry, reason: 'ttl ignored: TTL is off' } };
  const byDate = { expiry: { expiresAtMs: 60_000, by: 'at_1', reason: null } };
  expect(isWithoutTtl([off, off])).toBe(true);
  expect(isWithoutTtl([off, ignored])).toBe(false);
  expect(isWithoutTtl([off, byDate])).toBe(false);
  expect(isWithoutTtl([])).toBe(false);
});
