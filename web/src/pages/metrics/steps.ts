// Describes the steps of a forecast: their start and end. Pure.

import type { Series } from '../../api/admin';
import { utc } from '../../pure/time/utc';

export interface Unit {
  one: string;
  seconds: number;
}
export const HOUR: Unit = { one: 'hour', seconds: 3600 };
export const DAY: Unit = { one: 'day', seconds: 86_400 };

type Steps = Pick<Series, 'now_ms' | 'step_seconds'>;

/** "within 1 hour", "in 3 to 4 hours". */
export function stepName(
  { step_seconds }: Pick<Series, 'step_seconds'>,
  at: number,
  unit: Unit,
): string {
  const [from, to] = [at, at + 1].map((n) => (n * step_seconds) / unit.seconds);
  if (at === 0) return `within ${to} ${unit.one}${to === 1 ? '' : 's'}`;
  return `in ${from} to ${to} ${unit.one}s`;
}

/** Returns start and end of a step; the end is inclusive. */
export function stepEnds(
  { now_ms, step_seconds }: Steps,
  at: number,
): { from: string; to: string } {
  const instant = (n: number) => utc(now_ms + n * step_seconds * 1000);
  return { from: instant(at), to: instant(at + 1) };
}

/** "2026-11-22 03:00:00 to 04:00:00 UTC"; the day is repeated if it changes. */
export function stepSpan(steps: Steps, at: number): string {
  const { from, to } = stepEnds(steps, at);
  const [day, time] = from.split(' ');
  const [lastDay, lastTime] = to.split(' ');
  const end = day === lastDay ? lastTime : `${lastDay} ${lastTime}`;
  return `${day} ${time} to ${end} UTC`;
}

/** Returns whether any document expires. */
export function anyDies(series: Pick<Series, 'steps'>): boolean {
  return series.steps.some((step) => step.documents > 0);
}
