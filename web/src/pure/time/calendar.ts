// Days of a month as a calendar shows them, in UTC: weeks from Monday on. Pure.

const DAY_MS = 86_400_000;

/** The first instant of the day that an instant lies in. */
export function dayOf(ms: number): number {
  return Math.floor(ms / DAY_MS) * DAY_MS;
}

/** The weeks that a month has days in; days of other months fill them. */
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

/** The same day some months later, or the last one where that month is shorter. */
export function monthsLater(ms: number, months: number): number {
  const at = new Date(ms);
  const [year, month] = [at.getUTCFullYear(), at.getUTCMonth() + months];
  const last = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
  return Date.UTC(year, month, Math.min(at.getUTCDate(), last)) + (ms - dayOf(ms));
}

/** Where a key leads from a day; null: nowhere. */
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
