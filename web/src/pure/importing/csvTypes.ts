// Which type the texts of a CSV column have, and the JSON of one of them. Writes no documents.
import { type JsonNode, readJson } from '../json/tree';
import type { Api } from '../values/compare';
import type { CsvField } from './csvRecords';

export const CSV_TYPES = ['text', 'number', 'boolean', 'date', 'objectId', 'json'] as const;
export type CsvType = (typeof CSV_TYPES)[number];

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const DATE = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?)?$/;
const OBJECT_ID = /^[\da-fA-F]{24}$/;

/** Doubles of BSON that JSON has no numbers for. */
const SPECIAL: ReadonlySet<string> = new Set(['NaN', 'Infinity', '-Infinity']);

function isInstant(text: string): boolean {
  if (!DATE.test(text) || Number.isNaN(Date.parse(text.replace(' ', 'T')))) return false;
  // There is no 30th of February, though it is read as a day of March.
  const day = text.slice(0, 10);
  return new Date(`${day}T00:00:00Z`).toISOString().startsWith(day);
}

function isNested(text: string): boolean {
  return /^\s*[[{]/.test(text) && 'root' in readJson(text);
}

const FITS: readonly [CsvType, (text: string, api: Api) => boolean][] = [
  ['objectId', (text, api) => api === 'mongo' && OBJECT_ID.test(text)],
  ['number', (text) => NUMBER.test(text)],
  ['boolean', (text) => /^(?:true|false)$/i.test(text)],
  ['date', (text) => isInstant(text)],
  ['json', (text) => isNested(text)],
];

/** The type that all texts of a column have; fields without one say nothing. */
export function guessType(fields: readonly (CsvField | undefined)[], api: Api): CsvType {
  const given = fields.filter(
    (field) => field !== undefined && (field.quoted || field.text !== ''),
  );
  if (given.length === 0) return 'text';
  const fit = FITS.find(([, fits]) => given.every((field) => fits(field?.text ?? '', api)));
  const type = fit?.[0] ?? 'text';
  // Quotes around every number or date say that they are texts; nested values always need them.
  return type !== 'json' && given.every((field) => field?.quoted === true) ? 'text' : type;
}

export type Cell = { node: JsonNode } | { why: string };

const node = (text: string): Cell => ({ node: { kind: 'plain', at: 0, text } });

/** One key with a text, as Extended JSON writes values. */
function extended(name: string, text: string): Cell {
  const value: JsonNode = { kind: 'plain', at: 0, text: JSON.stringify(text) };
  const entry = { key: name, keyText: JSON.stringify(name), at: 0, value };
  return { node: { kind: 'object', at: 0, entries: [entry] } };
}

function nested(text: string): Cell {
  const read = readJson(text);
  return 'root' in read ? { node: read.root } : { why: `this is no JSON: ${read.error}` };
}

const shown = (text: string) => JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text);

/** The JSON of a field; of one that is empty and not quoted, null. */
export function cellOf({ text, quoted }: CsvField, type: CsvType, api: Api): Cell {
  if (text === '' && (!quoted || type !== 'text')) return node('null');
  switch (type) {
    case 'text':
      return node(JSON.stringify(text));
    case 'number':
      if (NUMBER.test(text)) return node(text);
      if (api === 'mongo' && SPECIAL.has(text)) return extended('$numberDouble', text);
      return { why: `${shown(text)} is not a number like 12.5.` };
    case 'boolean':
      if (/^(?:true|false)$/i.test(text)) return node(text.toLowerCase());
      return { why: `${shown(text)} is neither true nor false.` };
    case 'date':
      if (!isInstant(text)) return { why: `${shown(text)} is no date like 2026-01-31T12:00:00Z.` };
      return api === 'mongo' ? extended('$date', text) : node(JSON.stringify(text));
    case 'objectId':
      if (OBJECT_ID.test(text)) return extended('$oid', text);
      return { why: `${shown(text)} is not an ObjectId of 24 hex digits.` };
    case 'json':
      return nested(text);
  }
}
