// Filters applied to a list, newest first, kept in the browser per collection.
import type { Target } from '../../state/place';
import { readPreference, writePreference } from '../../state/preference';

const KEPT = 20;
/** Longer filters are not kept: local storage is small. */
const LONGEST = 2000;

const nameOf = ({ door, database, collection }: Target) =>
  `filters:${JSON.stringify([door, database, collection])}`;

const areTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((one) => typeof one === 'string');

/** Moves or adds a filter to the head of the list. */
export function remembered(past: readonly string[], filter: string): string[] {
  if (filter === '' || filter.length > LONGEST) return [...past];
  return [filter, ...past.filter((one) => one !== filter)].slice(0, KEPT);
}

export function pastFilters(target: Target): readonly string[] {
  return readPreference(nameOf(target), [], areTexts);
}

export function rememberFilter(target: Target, filter: string): void {
  writePreference(nameOf(target), remembered(pastFilters(target), filter));
}
