// What stands in a field of CSV for a value. Texts are in quotes always, so that a reader can tell them
// from numbers and an empty text from nothing. Chooses no columns.
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

/** Of nested values and of types that only Extended JSON names. */
const nested = (json: string) => quoted(json);

/** A value of BSON. What is missing and null are both nothing. */
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

/** A value of JSON as it was written. */
export function cellOfNode(node: JsonNode | null, guard: boolean): string {
  if (node === null) return '';
  if (node.kind !== 'plain') return nested(printCompact(node));
  if (node.text === 'null') return '';
  return node.text.startsWith('"') ? textCell(JSON.parse(node.text) as string, guard) : node.text;
}

/** The JSON at a path, through objects alone. */
export function nodeAtPath(node: JsonNode, parts: readonly string[]): JsonNode | null {
  let found: JsonNode | null = node;
  for (const part of parts) found = found === null ? null : (entryOf(found, part)?.value ?? null);
  return found;
}
