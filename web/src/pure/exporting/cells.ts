// Converts values to CSV fields. Strings are always quoted, so that a reader can distinguish them
// from numbers, and an empty string from an absent value. Does not choose columns.
import type { Binary, ObjectId } from 'bson';
import { FarDate } from '../farDate';
import { guarded } from '../importing/formulas';
import { entryOf, type JsonNode, printCompact } from '../json/tree';
import { kindOf } from '../values/kind';
import { relaxedText } from './extended';

export const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;

function textCell(text: string, guard: boolean): string {
  return quoted(guard ? guarded(text) : text);
}

/** Nested values, and types that only Extended JSON can express. */
const nested = (json: string) => quoted(json);

/** Returns the field for a BSON value. Missing values and null are both empty. */
export function cellOfValue(value: unknown, guard: boolean): string {
  switch (kindOf(value)) {
    case 'missing':
    case 'null':
      return '';
    case 'string':
      return textCell(value as string, guard);
    case 'objectId':
      return (value as ObjectId).toHexString();
    case 'date': {
      const date = value as Date;
      if (date instanceof FarDate) return nested(relaxedText(date));
      return Number.isNaN(date.getTime()) ? '' : date.toISOString();
    }
    case 'boolean':
      return String(value);
    case 'decimal':
      return String(value);
    case 'double':
    case 'number':
      return Number.isFinite(Number(value)) ? relaxedText(value) : String(Number(value));
    case 'int':
    case 'long':
      return String(value);
    case 'binary':
      return isUuid(value as Binary)
        ? textCell((value as Binary).toUUID().toHexString(true), guard)
        : nested(relaxedText(value));
    default:
      return nested(relaxedText(value));
  }
}

const isUuid = (value: Binary) => value.sub_type === 4 && value.length() === 16;

/** Returns the field for a JSON value as written. */
export function cellOfNode(node: JsonNode | null, guard: boolean): string {
  if (node === null) return '';
  if (node.kind !== 'plain') return nested(printCompact(node));
  if (node.text === 'null') return '';
  return node.text.startsWith('"') ? textCell(JSON.parse(node.text) as string, guard) : node.text;
}

/** Returns the JSON at a path through objects only. */
export function nodeAtPath(node: JsonNode, parts: readonly string[]): JsonNode | null {
  let found: JsonNode | null = node;
  for (const part of parts) found = found === null ? null : (entryOf(found, part)?.value ?? null);
  return found;
}
