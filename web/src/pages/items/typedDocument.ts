// Parses a typed document in shell syntax. Pure.
import { calculateObjectSize } from 'bson';
import type { Document } from '../../api/mongo';
import { parseShell } from '../../pure/shell';

export function isDocument(value: unknown): value is Document {
  return (
    typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
  );
}

/** Parses a document; throws the reason if it is invalid. */
export function documentOf(text: string, largest: { bytes: number; words: string }): Document {
  const parsed = parseShell(text);
  if ('error' in parsed) throw new Error(parsed.error);
  if (!isDocument(parsed.value)) throw new Error('A document must be an object.');
  if (calculateObjectSize(parsed.value) > largest.bytes)
    throw new Error(`The document is larger than ${largest.words}.`);
  return parsed.value;
}
