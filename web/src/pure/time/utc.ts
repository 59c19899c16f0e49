// Instants as text and back, always in UTC: the database's time has no zone of its own.

/** Beyond this a `Date` has no text. */
const MAX_MS = 8_640_000_000_000_000;

/** "2026-11-22 03:19:56 UTC"; years beyond 9999 carry a sign. */
export function utc(ms: number): string {
  if (!(Math.abs(ms) <= MAX_MS)) return 'beyond the calendar';
  const text = new Date(Math.floor(ms / 1000) * 1000).toISOString();
  return `${text.replace('T', ' ').replace('.000Z', '')} UTC`;
}

/** "03:19:56 UTC", of what happened while the page was open. */
export function timeOfDay(ms: number): string {
  return utc(ms).replace(/^\S+ /, '');
}

/** An instant as one types it: "2026-11-22 03:19:56". */
export function toInput(ms: number): string {
  return new Date(ms).toISOString().slice(0, 19).replace('T', ' ');
}

/**
 * Takes "2026-11-22 03:19" or with a T, with seconds and a part of them if there are any, and a day alone as
 * its midnight; null: no instant.
 */
export function fromInput(text: string): number | null {
  const shape = /^\d{4,6}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?$/;
  const given = text.trim();
  const typed = /^\d{4,6}-\d{2}-\d{2}$/.test(given) ? `${given} 00:00` : given;
  if (!shape.test(typed)) return null;
  const ms = Date.parse(`${typed.replace(' ', 'T')}Z`);
  // Some readers take the 30th of February for a day of March.
  return Number.isNaN(ms) || !toInput(ms).startsWith(typed.slice(0, 10)) ? null : ms;
}
