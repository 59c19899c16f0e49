// Describes the statistics of a field. Pure.

import { FarDate } from '../../pure/farDate';
import type { Counted, FieldFacts, Range } from '../../pure/schema/fields';
import { parseShell } from '../../pure/shell';
import { utc } from '../../pure/time/utc';
import { bareKind, bareText } from '../../pure/values/bare';
import type { Kind } from '../../pure/values/kind';

/** "12 %", "under 1 %", "over 99 %"; 0 % and 100 % only if exact. */
export function percent(share: number): string {
  const whole = Math.round(share * 100);
  if (whole === 0 && share > 0) return 'under 1 %';
  return whole === 100 && share < 1 ? 'over 99 %' : `${whole} %`;
}

/** "string 98 %, null 2 %"; a single type without its percentage. */
export function kindsInWords(kinds: readonly Counted<Kind>[], count: number): string {
  const [first] = kinds;
  if (kinds.length === 1 && first !== undefined) return first.value;
  return kinds.map(({ value, count: n }) => `${value} ${percent(n / count)}`).join(', ');
}

function endOf(value: unknown): string {
  const isNear = value instanceof Date && !(value instanceof FarDate);
  return isNear ? utc(value.getTime()) : bareText(value);
}

function rangeInWords({ least, most }: Range): string {
  const [from, to] = [endOf(least), endOf(most)];
  return from === to ? from : `${from} to ${to}`;
}

const decimal = (value: number) => String(Math.round(value * 10) / 10);

export function rangesOf({ numbers, dates, lengths }: FieldFacts): string[] {
  const found = [numbers, dates].filter((range) => range !== null).map(rangeInWords);
  if (lengths === null) return found;
  const { least, most, average } = lengths;
  const many = least === most ? `${least}` : `${least} to ${most}, on average ${decimal(average)}`;
  return [...found, `${many} element${least === most && least === 1 ? '' : 's'}`];
}

/** Returns the values that occur more than once. */
export function telling(facts: FieldFacts): readonly Counted<string>[] {
  return facts.top.filter(({ count }) => count > 1);
}

/**
 * Returns a value printed by the shell without its type constructor, and its type; null: the text
 * shows the type. Strings keep their quotes.
 */
export function readable(text: string): { text: string; kind: Kind | null } {
  const parsed = parseShell(text);
  // A truncated value.
  if ('error' in parsed) return { text, kind: null };
  const kind = bareKind(parsed.value);
  return kind === null ? { text, kind } : { text: bareText(parsed.value), kind };
}

export function differentInWords({ different, top }: FieldFacts): string {
  if (top.length === 0) return '';
  if (different === null) return 'more than 1,000 different values';
  return different === 1 ? 'always the same value' : `${different} different values`;
}
