// Instants for people: UTC, to the second, sorted like they are read.

/** "2026-11-22 03:04:05 UTC"; instants beyond what dates can be are said in ms. */
export function instant(ms: number): string {
  const date = new Date(ms);
  if (Number.isNaN(date.getTime())) return `${ms} ms`;
  return `${date.toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

/** "03:04:05" of the browser's own time. */
export function timeOfDay(ms: number): string {
  return new Date(ms).toLocaleTimeString('en-GB', { hour12: false });
}
