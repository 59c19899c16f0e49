// Formats a value for a cell: without its type constructor where the digits alone are easier to
// read. The type is shown in a tooltip.
import { printShell } from '../shell';
import { type Kind, kindOf } from './kind';

/** Formats a date as `2026-01-31 12:00:00` in UTC, with milliseconds if not zero. */
function dateText(date: Date): string {
  if (Number.isNaN(date.getTime())) return printShell(date, 0);
  return date
    .toISOString()
    .replace('T', ' ')
    .replace(/(\.000)?Z$/, '');
}

/** Formats a value on one line. */
export function bareText(value: unknown): string {
  // A JSON number, which has no further type.
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

/** Returns the type that `bareText` omits; null: none. */
export function bareKind(value: unknown): Kind | null {
  const kind = kindOf(value);
  return BARE.has(kind) ? kind : null;
}

/** Returns the text with the type that `bareText` omits; null: none. */
export function typedText(value: unknown): string | null {
  return bareKind(value) === null ? null : printShell(value, 0);
}
