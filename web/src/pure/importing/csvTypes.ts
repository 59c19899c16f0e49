// Guesses the type of a CSV column and converts its fields to JSON. Builds no documents.
import { type JsonNode, readJson } from '../json/tree';
import type { Api } from '../values/compare';
import type { CsvField } from './csvRecords';

export const CSV_TYPES = [
  'text',
  'number',
  'commaNumber',
  'boolean',
  'date',
  'dayFirst',
  'objectId',
  'json',
] as const;
export type CsvType = (typeof CSV_TYPES)[number];

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const DATE = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?)?$/;
/** "12,50" and "1.234,5": decimal commas, as in much of Europe. */
const COMMA_NUMBER = /^-?(?:(?:0|[1-9]\d*)|[1-9]\d{0,2}(?:\.\d{3})+)(?:,\d+)?$/;
/** Day before month: "31.12.2026", "31/12/2026 09:30". */
const DAY_FIRST = /^(\d\d?)([./-])(\d\d?)\2(\d{4})(?:[ T,]+(\d\d?):(\d\d)(?::(\d\d))?)?$/;
const OBJECT_ID = /^[\da-fA-F]{24}$/;

/** BSON doubles without a JSON number. */
const SPECIAL: ReadonlySet<string> = new Set(['NaN', 'Infinity', '-Infinity']);

function isInstant(text: string): boolean {
  if (!DATE.test(text) || Number.isNaN(Date.parse(text.replace(' ', 'T')))) return false;
  // `Date` parses the 30th of February as a day of March.
  const day = text.slice(0, 10);
  return new Date(`${day}T00:00:00Z`).toISOString().startsWith(day);
}

/** Converts a number with a decimal comma to JSON; null if it is not one. */
function ofComma(text: string): string | null {
  return COMMA_NUMBER.test(text) ? text.replaceAll('.', '').replace(',', '.') : null;
}

/** Converts a day-first date to ISO 8601 in UTC; null if it is not one. */
function ofDayFirst(text: string): string | null {
  const parts = DAY_FIRST.exec(text);
  if (parts === null) return null;
  const [, day = '', , month = '', year = '', hour, minute, second = '00'] = parts;
  const date = `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`;
  const iso = hour === undefined ? date : `${date}T${hour.padStart(2, '0')}:${minute}:${second}Z`;
  return isInstant(iso) ? iso : null;
}

/** Whether a column's dates are day-first: with dots always, else if one day exceeds 12. */
function areDayFirst(texts: readonly string[]): boolean {
  if (!texts.every((text) => ofDayFirst(text) !== null)) return false;
  return texts.some((text) => text.includes('.') || Number(DAY_FIRST.exec(text)?.[1]) > 12);
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

/** Whether a column has decimal commas; without any comma "1.234" has a decimal point. */
function haveCommas(texts: readonly string[]): boolean {
  return texts.some((text) => text.includes(',')) && texts.every((text) => ofComma(text) !== null);
}

/**
 * Returns the type that fits all texts of a column; empty fields are ignored. If the delimiter is a
 * comma, commas within fields are not taken for decimal ones: "1,234" may be a thousand.
 */
export function guessType(
  fields: readonly (CsvField | undefined)[],
  api: Api,
  delimiter = ',',
): CsvType {
  const given = fields.filter(
    (field) => field !== undefined && (field.quoted || field.text !== ''),
  );
  if (given.length === 0) return 'text';
  const fit = FITS.find(([, fits]) => given.every((field) => fits(field?.text ?? '', api)));
  const texts = given.map((field) => field?.text ?? '');
  const local = areDayFirst(texts)
    ? 'dayFirst'
    : delimiter !== ',' && haveCommas(texts)
      ? 'commaNumber'
      : 'text';
  const type = fit?.[0] ?? local;
  // If every number or date is quoted, they are strings; nested values always need quotes.
  return type !== 'json' && given.every((field) => field?.quoted === true) ? 'text' : type;
}

export type Cell = { node: JsonNode } | { why: string };

const node = (text: string): Cell => ({ node: { kind: 'plain', at: 0, text } });

/** Returns an Extended JSON object with one key and a string. */
function extended(name: string, text: string): Cell {
  const value: JsonNode = { kind: 'plain', at: 0, text: JSON.stringify(text) };
  const entry = { key: name, keyText: JSON.stringify(name), at: 0, value };
  return { node: { kind: 'object', at: 0, entries: [entry] } };
}

function nested(text: string): Cell {
  const read = readJson(text);
  return 'root' in read ? { node: read.root } : { why: `not JSON: ${read.error}` };
}

const shown = (text: string) => JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text);

/** Returns the JSON of a field; null for an empty unquoted one. */
export function cellOf({ text, quoted }: CsvField, type: CsvType, api: Api): Cell {
  if (text === '' && (!quoted || type !== 'text')) return node('null');
  switch (type) {
    case 'text':
      return node(JSON.stringify(text));
    case 'number':
      if (NUMBER.test(text)) return node(text);
      if (api === 'mongo' && SPECIAL.has(text)) return extended('$numberDouble', text);
      return { why: `${shown(text)} is not a number like 12.5.` };
    case 'commaNumber': {
      const number = ofComma(text);
      return number === null ? { why: `${shown(text)} is not a number like 12,5.` } : node(number);
    }
    case 'boolean':
      if (/^(?:true|false)$/i.test(text)) return node(text.toLowerCase());
      return { why: `${shown(text)} is neither true nor false.` };
    case 'date':
      if (!isInstant(text))
        return { why: `${shown(text)} is not a date like 2026-01-31T12:00:00Z.` };
      return api === 'mongo' ? extended('$date', text) : node(JSON.stringify(text));
    case 'dayFirst': {
      const date = ofDayFirst(text);
      if (date === null) return { why: `${shown(text)} is not a date like 31.12.2026 09:30.` };
      return api === 'mongo' ? extended('$date', date) : node(JSON.stringify(date));
    }
    case 'objectId':
      if (OBJECT_ID.test(text)) return extended('$oid', text);
      return { why: `${shown(text)} is not an ObjectId of 24 hex digits.` };
    case 'json':
      return nested(text);
  }
}
