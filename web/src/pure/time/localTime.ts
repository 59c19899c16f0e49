// Instants in the browser's time zone; database time is UTC.

/** "2026-01-31 03:04:05"; empty if out of range. */
export function localInstant(ms: number): string {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? '' : date.toLocaleString('sv-SE');
}
