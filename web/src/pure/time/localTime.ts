// The browser's own time, for what happened in the portal itself.

/** "03:04:05". */
export function timeOfDay(ms: number): string {
  return new Date(ms).toLocaleTimeString('en-GB', { hour12: false });
}
