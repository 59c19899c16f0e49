// Quick filters of the loaded rows by expiry. No requests.
import { expiresSoon } from './expires';
import type { Row } from './source';

export type Quick = 'all' | 'hour' | 'never';

export const QUICK: readonly [Quick, string][] = [
  ['all', 'all'],
  ['hour', 'expires within an hour'],
  ['never', 'never expires'],
];

export function quickOf(text: string | null): Quick {
  return QUICK.find(([key]) => key === text)?.[0] ?? 'all';
}

export function quickly(rows: readonly Row[], quick: Quick, nowMs: number): readonly Row[] {
  if (quick === 'all') return rows;
  if (quick === 'never') return rows.filter(({ expiry }) => expiry.expiresAtMs === null);
  return rows.filter(({ expiry }) => expiresSoon(expiry, nowMs));
}
