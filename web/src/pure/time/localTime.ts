// The browser's own time, for what happened in the portal itself.

/** "03:04:05". */
export function timeOfDay(ms: number): string {
  return new Date(ms).toLocaleTimeString('en-GB', { hour12: false });
}

/** "2026-01-31 03:04:05"; empty beyond the calendar. */
export function localInstant(ms: number): string {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? '' : date.toLocaleString('sv-SE');
}
