// What makes the documents of a collection expire, in a line.
import type { DefaultTtl } from '../../api/admin';
import { inWords, spelled } from '../../pure/time/duration';

/** A date TTL index: documents expire this long after the date in the field. */
export interface DateRule {
  name: string;
  seconds: number;
}

/** What makes documents expire: the default of the collection, and its date TTL indexes. */
export function ruleWords(value: DefaultTtl, indexes: readonly DateRule[]): string {
  const dates = indexes.map(({ name, seconds }) => `${name}, ${inWords(seconds)}`).join('; ');
  if (value === null) return dates === '' ? 'Off' : `Off; by date: ${dates}`;
  const on = value === -1 ? 'On (no default)' : `On: ${spelled(value)}`;
  return dates === '' ? on : `${on}; by date: ${dates}`;
}
