// The browser's own time, for people who think in it: the database's has no zone.

/** "2026-01-31 03:04:05"; empty beyond the calendar. */
export function localInstant(ms: number): string {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? '' : date.toLocaleString('sv-SE');
}
