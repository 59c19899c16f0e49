// What is said of the indexes of a container.
import type { KeptIndex } from '../../../api/admin';
import { utc } from '../../../pure/time/utc';

const WHY: Record<KeptIndex['why'], string> = {
  query: 'A query',
  named: 'Named by the policy',
  composite: 'Composite index',
  unique: 'Unique key',
  policy: 'The whole policy',
};

export function whyInWords(why: KeptIndex['why']): string {
  return WHY[why] ?? why;
}

/** An instant of the database clock; of what has none, a dash. */
export function instantInWords(seconds: number | null): string {
  return seconds === null ? '–' : utc(seconds * 1000);
}

/** What there is to say of all of them: what is being built, and whether unused ones end. */
export function keptInWords(progress: number, unusedDays: number | null): string {
  const ends =
    unusedDays === null
      ? 'A path that was indexed once stays indexed.'
      : `A path that no query uses for ${unusedDays} ${unusedDays === 1 ? 'day' : 'days'} is indexed no more.`;
  return progress < 100 ? `Being built: ${progress} %. ${ends}` : ends;
}
