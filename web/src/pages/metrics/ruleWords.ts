// Describes in a line why documents of a collection expire.
import type { DefaultTtl } from '../../api/admin';
import { inWords, spelled } from '../../pure/time/duration';

/** A TTL index on a date: documents expire this long after the date in the field. */
export interface DateRule {
  name: string;
  seconds: number;
}

/** Describes the collection's default TTL and its TTL indexes. */
export function ruleWords(value: DefaultTtl, indexes: readonly DateRule[]): string {
  const dates = indexes.map(({ name, seconds }) => `${name}, ${inWords(seconds)}`).join('; ');
  if (value === null) return dates === '' ? 'Off' : `Off; by date: ${dates}`;
  const on = value === -1 ? 'On (no default)' : `On: ${spelled(value)}`;
  return dates === '' ? on : `${on}; by date: ${dates}`;
}
