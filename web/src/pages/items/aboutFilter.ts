// Decides whether a filter caused a failure, and builds the message for an invalid filter.
import { ApiError, words } from '../../api/http';
import { CommandError } from '../../api/mongo';

/** Error codes that are not caused by the filter. */
const NOT_THE_FILTER: ReadonlySet<number> = new Set([13, 50, 91, 146, 11_600, 11_602]);

/** Returns whether a list failed to load because of its filter. */
export function isAboutFilter(failure: unknown, filter: string): boolean {
  if (filter === '') return false;
  if (failure instanceof CommandError) return !NOT_THE_FILTER.has(failure.number);
  return !(failure instanceof ApiError) || failure.status === 400;
}

/** A filter that the server refused while the list and the URL keep the previous one. */
export interface RejectedFilter {
  text: string;
  why: string;
  applied: string;
}

/** Returns the message about a filter that the server refused. */
export function wrongWords(failure: unknown, isOfBefore: boolean): string {
  const why = words(failure);
  if (!isOfBefore) return why;
  return `${why}${/[.!?]$/.test(why) ? '' : '.'} Showing results of the previous filter.`;
}
