// A value as it stands in a cell: without the words that say its type where the digits alone are read
// more easily. The type is for a tooltip.
import { printShell } from '../shell';
import { type Kind, kindOf } from './kind';

/** A date as `2026-01-31 12:00:00` in UTC, with milliseconds where it has some. */
function dateText(date: Date): string {
  if (Number.isNaN(date.getTime())) return printShell(date, 0);
  return date
    .toISOString()
    .replace('T', ' ')
    .replace(/(\.000)?Z$/, '');
}

/** On one line. */
export function bareText(value: unknown): string {
  // Of JSON, which has one type of numbers.
  if (typeof value === 'number') return String(value);
  switch (kindOf(value)) {
    case 'missing':
      return '';
    case 'string':
    case 'objectId':
    case 'long':
    case 'decimal':
      return String(value);
    case 'date':
      return dateText(value as Date);
    default:
      return printShell(value, 0);
  }
}

const BARE: ReadonlySet<Kind> = new Set(['objectId', 'long', 'decimal', 'date']);

/** The type, where `bareText` leaves it out; null: it does not. */
export function bareKind(value: unknown): Kind | null {
  const kind = kindOf(value);
  return BARE.has(kind) ? kind : null;
}

/** With its type, where `bareText` leaves that out; null: it does not. */
export function typedText(value: unknown): string | null {
  return bareKind(value) === null ? null : printShell(value, 0);
}
