// Formats and parses instants, always in UTC.

/** Limit of `Date`. */
const MAX_MS = 8_640_000_000_000_000;

/** "2026-11-22 03:19:56 UTC"; years beyond 9999 carry a sign. */
export function utc(ms: number): string {
  if (!(Math.abs(ms) <= MAX_MS)) return 'out of range';
  const text = new Date(Math.floor(ms / 1000) * 1000).toISOString();
  return `${text.replace('T', ' ').replace('.000Z', '')} UTC`;
}

/** "03:19:56 UTC", for events since the page was opened. */
export function timeOfDay(ms: number): string {
  return utc(ms).replace(/^\S+ /, '');
}

/** Formats an instant for an input: "2026-11-22 03:19:56". */
export function toInput(ms: number): string {
  return new Date(ms).toISOString().slice(0, 19).replace('T', ' ');
}

/** Parses "2026-11-22 03:19", also with T, seconds or fractions, or a day; null if invalid. */
export function fromInput(text: string): number | null {
  const shape = /^\d{4,6}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?$/;
  const given = text.trim();
  const typed = /^\d{4,6}-\d{2}-\d{2}$/.test(given) ? `${given} 00:00` : given;
  if (!shape.test(typed)) return null;
  const ms = Date.parse(`${typed.replace(' ', 'T')}Z`);
  // Some engines parse the 30th of February as a day of March.
  return Number.isNaN(ms) || !toInput(ms).startsWith(typed.slice(0, 10)) ? null : ms;
}
