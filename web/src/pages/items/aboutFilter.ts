// Whose fault it is that a list could not be read, and what is said of a filter that has a mistake.
import { ApiError, words } from '../../api/http';
import { CommandError } from '../../api/mongo';

/** Commands that end with these were not refused for what they ask. */
const NOT_THE_FILTER: ReadonlySet<number> = new Set([13, 50, 91, 146, 11_600, 11_602]);

/** Whether a list could not be read because of what was typed as its filter. */
export function isAboutFilter(failure: unknown, filter: string): boolean {
  if (filter === '') return false;
  if (failure instanceof CommandError) return !NOT_THE_FILTER.has(failure.number);
  return !(failure instanceof ApiError) || failure.status === 400;
}

/** A filter that the server refused, while the list and the address stay with the one before. */
export interface RejectedFilter {
  text: string;
  why: string;
  /** The filter that is applied instead. */
  applied: string;
}

/** Returns what the filter box says of a filter that the server refused. */
export function wrongWords(failure: unknown, isOfBefore: boolean): string {
  const why = words(failure);
  if (!isOfBefore) return why;
  return `${why}${/[.!?]$/.test(why) ? '' : '.'} Showing results of the previous filter.`;
}
