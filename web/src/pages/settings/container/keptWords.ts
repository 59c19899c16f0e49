// Texts about the indexes of a container.
import type { KeptIndex } from '../../../api/admin';
import { utc } from '../../../pure/time/utc';

const WHY: Record<KeptIndex['why'], string> = {
  query: 'A query',
  named: 'Listed in the policy',
  composite: 'Composite index',
  unique: 'Unique key',
  policy: 'The whole policy',
};

export function whyInWords(why: KeptIndex['why']): string {
  return WHY[why] ?? why;
}

/** Formats database time in seconds; null: a dash. */
export function instantInWords(seconds: number | null): string {
  return seconds === null ? '–' : utc(seconds * 1000);
}

/** Describes the progress of builds, and whether unused indexes are dropped. */
export function keptInWords(progress: number, unusedDays: number | null): string {
  const ends =
    unusedDays === null
      ? 'Indexed paths are kept.'
      : `Paths that no query uses for ${unusedDays} ${unusedDays === 1 ? 'day' : 'days'} are dropped.`;
  return progress < 100 ? `Being built: ${progress} %. ${ends}` : ends;
}
