// The time range of the charts as in the URL: `hours=6`, or `from` and `to`. Pure.
import type { Range } from './lines';

export const HOURS = [1, 6, 24] as const;
export type Hours = (typeof HOURS)[number];

export type Shown =
  /** The last hours. */
  { kind: 'hours'; hours: Hours } | { kind: 'part'; range: Range };

/** Parses the URL; invalid values are ignored. */
export function shownOf(query: URLSearchParams): Shown {
  const [from, to] = ['from', 'to'].map((name) => Date.parse(query.get(name) ?? ''));
  if (from !== undefined && to !== undefined && from < to)
    return { kind: 'part', range: { from, to } };
  const hours = HOURS.find((known) => String(known) === query.get('hours'));
  return { kind: 'hours', hours: hours ?? HOURS[0] };
}

/** Returns the query parameters of a range. */
export function addressOf(shown: Shown): Record<'hours' | 'from' | 'to', string | null> {
  if (shown.kind === 'hours') {
    const hours = shown.hours === HOURS[0] ? null : String(shown.hours);
    return { hours, from: null, to: null };
  }
  const written = (at: number) => new Date(Math.round(at / 1000) * 1000).toISOString();
  const { from, to } = shown.range;
  return { hours: null, from: written(from), to: written(to) };
}
