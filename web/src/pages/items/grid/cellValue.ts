// Converts a cell's value to editable text, and typed text to a value of the same type. Changing
// the type needs the item's editor. Pure.
import { Decimal128, Double, Int32, Long, ObjectId } from 'bson';
import { FarDate } from '../../../pure/farDate';
import { readJson } from '../../../pure/json/tree';
import { parseShell, printShell } from '../../../pure/shell';
import type { Api } from '../../../pure/values/compare';
import { type Kind, kindOf } from '../../../pure/values/kind';

export type Typed = { value: unknown } | { error: string };

const EDITABLE: ReadonlySet<Kind> = new Set<Kind>([
  ...(['null', 'boolean', 'number', 'int', 'long', 'double', 'decimal'] as const),
  ...(['string', 'objectId', 'date'] as const),
]);

/** Returns why a field cannot be edited in its cell; null: it can. */
export function whyNotInCell(value: unknown, parts: readonly string[], api: Api): string | null {
  if (api === 'mongo' && parts.some((part) => part.includes('.') || part.startsWith('$')))
    return 'Fields with a dot or dollar sign in their name can only be changed in the editor.';
  if (kindOf(value) === 'missing') return 'The field does not exist: add it in the editor.';
  if (value instanceof FarDate) return 'Dates out of range can only be changed in the editor.';
  return EDITABLE.has(kindOf(value))
    ? null
    : 'Objects and arrays can only be changed in the editor.';
}

export function editText(value: unknown): string {
  switch (kindOf(value)) {
    case 'string':
      return value as string;
    case 'date':
      return Number.isNaN((value as Date).getTime()) ? '' : (value as Date).toISOString();
    case 'objectId':
      return (value as ObjectId).toHexString();
    case 'null':
    case 'boolean':
      return String(value);
    case 'number':
      return JSON.stringify(value);
    case 'int':
    case 'long':
    case 'decimal':
      return String(value);
    default:
      return printShell(value, 0);
  }
}

/** Parses a value of any type if there was none; anything but a literal is a string. */
function untyped(text: string, api: Api): Typed {
  if (api === 'mongo') {
    const read = parseShell(text);
    return 'error' in read ? { value: text } : { value: read.value };
  }
  const read = readJson(text);
  return 'error' in read ? { value: text } : jsonNumber(text, JSON.parse(text));
}

/** Refuses a JSON number that would lose digits. */
function jsonNumber(text: string, value: unknown): Typed {
  if (typeof value !== 'number') return { value };
  if (Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value)))
    return { value };
  return { error: `${text} has too many digits for a cell: change it in the editor.` };
}

function long(text: string): Typed {
  const value = BigInt(text);
  if (value < -(1n << 63n) || value >= 1n << 63n) return { error: 'The number exceeds 64 bits.' };
  return { value: Long.fromBigInt(value) };
}

function number(text: string, kind: Kind): Typed {
  const isWhole = /^[+-]?\d+$/.test(text);
  if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text))
    return { error: 'Enter a number, such as 12 or 12.5.' };
  switch (kind) {
    case 'decimal':
      try {
        return { value: Decimal128.fromString(text) };
      } catch {
        return { error: 'Not a decimal with at most 34 digits.' };
      }
    case 'double':
      return { value: new Double(Number(text)) };
    case 'number':
      return jsonNumber(text, Number(text));
    default:
      if (!isWhole) return { error: 'The field holds whole numbers.' };
      if (kind === 'long') return long(text);
      return Math.abs(Number(text)) > 0x7fff_ffff
        ? { error: 'The number exceeds 32 bits: change it in the editor.' }
        : { value: new Int32(Number(text)) };
  }
}

/** Converts typed text to a value of the cell's type. */
export function typedValue(typed: string, before: unknown, api: Api): Typed {
  const text = typed.trim();
  const kind = kindOf(before);
  switch (kind) {
    case 'string':
      return { value: typed };
    case 'boolean':
      if (text === 'true' || text === 'false') return { value: text === 'true' };
      return { error: 'Enter true or false.' };
    case 'date': {
      // As the editor parses it: without a zone it is UTC, as shown in cells.
      const read = parseShell(`ISODate(${JSON.stringify(text)})`);
      return 'error' in read
        ? { error: 'Enter a date like 2026-01-31 12:00:00, in UTC.' }
        : { value: read.value };
    }
    case 'objectId':
      if (!/^[0-9a-f]{24}$/i.test(text)) return { error: 'Enter 24 hexadecimal digits.' };
      return { value: ObjectId.createFromHexString(text) };
    case 'null':
      return untyped(typed, api);
    default:
      return number(text, kind);
  }
}
