// Formats an expiry: instant, countdown, reason.
import { countdown } from '../../pure/time/duration';
import { localInstant } from '../../pure/time/localTime';
import { type Expiry, NEVER_WHERE_OFF } from '../../pure/ttl/reasons';

/** "2026-01-31 12:00:00", database time in UTC; milliseconds only if not zero. */
export function instant(ms: number): string {
  const date = new Date(ms);
  if (Number.isNaN(date.getTime())) return 'out of range';
  const text = date.toISOString().replace('T', ' ').replace('Z', '');
  return ms % 1000 === 0 ? text.slice(0, -4) : text;
}

export interface Shown {
  /** Empty: it does not expire. */
  at: string;
  left: string;
  /** Remaining time: less than a minute, an hour, a day, or more. */
  near: Near;
  reason: string;
}

/** Formats an instant in UTC and in the browser's time zone. */
export function bothTimes(at: string, ms: number | null): string {
  const local = ms === null ? '' : localInstant(ms);
  return local === '' ? `${at} UTC` : `${at} UTC (${local} local time)`;
}

export type Near = 'minute' | 'hour' | 'day' | 'far';

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

function nearOf(leftMs: number): Near {
  if (leftMs < MINUTE_MS) return 'minute';
  if (leftMs < HOUR_MS) return 'hour';
  return leftMs < DAY_MS ? 'day' : 'far';
}

export function expiresSoon(expiry: Expiry, nowMs: number): boolean {
  return expiry.expiresAtMs !== null && expiry.expiresAtMs - nowMs < HOUR_MS;
}

/** Returns whether all rows do not expire because TTL is off; false for an empty list. */
export function isWithoutTtl(rows: readonly { expiry: Expiry }[]): boolean {
  return (
    rows.length > 0 &&
    rows.every(({ expiry }) => expiry.expiresAtMs === null && expiry.reason === NEVER_WHERE_OFF)
  );
}

export function shownExpiry(expiry: Expiry, nowMs: number | null): Shown {
  const reason = expiry.reason ?? '';
  if (expiry.expiresAtMs === null) return { at: '', left: '', near: 'far', reason };
  const left = nowMs === null ? '' : countdown(expiry.expiresAtMs - nowMs);
  return {
    at: instant(expiry.expiresAtMs),
    left,
    near: nowMs === null ? 'far' : nearOf(expiry.expiresAtMs - nowMs),
    reason,
  };
}
