// How an expiry is shown: the instant, the countdown, the reason.
import { countdown } from '../../pure/time/duration';
import type { Expiry } from '../../pure/ttl/reasons';

/** "2026-01-31 12:00:00", the database's time, UTC; parts of a second only where there are some. */
export function instant(ms: number): string {
  const date = new Date(ms);
  if (Number.isNaN(date.getTime())) return 'beyond the calendar';
  const text = date.toISOString().replace('T', ' ').replace('Z', '');
  return ms % 1000 === 0 ? text.slice(0, -4) : text;
}

export interface Shown {
  /** Empty: it does not die. */
  at: string;
  left: string;
  /** Less than an hour. */
  soon: boolean;
  reason: string;
}

const HOUR_MS = 3_600_000;

export function diesSoon(expiry: Expiry, nowMs: number): boolean {
  return expiry.expiresAtMs !== null && expiry.expiresAtMs - nowMs < HOUR_MS;
}

export function shownExpiry(expiry: Expiry, nowMs: number | null): Shown {
  const reason = expiry.reason ?? '';
  if (expiry.expiresAtMs === null) return { at: '', left: '', soon: false, reason };
  const left = nowMs === null ? '' : countdown(expiry.expiresAtMs - nowMs);
  return {
    at: instant(expiry.expiresAtMs),
    left,
    soon: nowMs !== null && diesSoon(expiry, nowMs),
    reason,
  };
}
