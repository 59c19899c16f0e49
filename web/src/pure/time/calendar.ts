// Days of a month for a calendar, in UTC; weeks start on Monday. Pure.

const DAY_MS = 86_400_000;

/** Returns the first instant of the day. */
export function dayOf(ms: number): number {
  return Math.floor(ms / DAY_MS) * DAY_MS;
}

/** Returns the weeks of a month, filled with days of adjacent months. */
export function weeksOf(ms: number): number[][] {
  const at = new Date(ms);
  const first = Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), 1);
  const next = Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1, 1);
  const monday = first - ((new Date(first).getUTCDay() + 6) % 7) * DAY_MS;
  const count = Math.ceil((next - monday) / (7 * DAY_MS));
  return Array.from({ length: count }, (_, week) =>
    Array.from({ length: 7 }, (_day, day) => monday + (week * 7 + day) * DAY_MS),
  );
}

/** Returns the same day some months later, or the last day of a shorter month. */
export function monthsLater(ms: number, months: number): number {
  const at = new Date(ms);
  const [year, month] = [at.getUTCFullYear(), at.getUTCMonth() + months];
  const last = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
  return Date.UTC(year, month, Math.min(at.getUTCDate(), last)) + (ms - dayOf(ms));
}

/** Returns the day that a key moves to; null: another key. */
export function dayByKey(ms: number, key: string, isShift: boolean): number | null {
  const weekday = (new Date(ms).getUTCDay() + 6) % 7;
  const days: Record<string, number> = {
    ArrowLeft: -1,
    ArrowRight: 1,
    ArrowUp: -7,
    ArrowDown: 7,
    Home: -weekday,
    End: 6 - weekday,
  };
  const months: Record<string, number> = { PageUp: -1, PageDown: 1 };
  const [day, month] = [days[key], months[key]];
  if (day !== undefined) return ms + day * DAY_MS;
  return month === undefined ? null : monthsLater(ms, month * (isShift ? 12 : 1));
}
