// Parses the form of a field change: types of both APIs, and errors by input. Pure; values are
// parsed like those of grid cells.
import { Decimal128, Double, Int32, Long, ObjectId } from 'bson';
import { readJson } from '../../../../pure/json/tree';
import { parseShell } from '../../../../pure/shell';
import type { Api } from '../../../../pure/values/compare';
import { type Kind, kindOf } from '../../../../pure/values/kind';
import { partsOfPath, valueAtPath } from '../../../../pure/values/path';
import { type Typed, typedValue } from '../../grid/cellValue';
import type { Row } from '../../source';
import { type FieldChange, isInexact, type Rules, whyNotPath, whyNotRenamed } from './change';

/** The types that a field can be set to; `object` includes arrays. */
export type FieldType = Extract<
  Kind,
  | 'string'
  | 'number'
  | 'int'
  | 'long'
  | 'double'
  | 'decimal'
  | 'boolean'
  | 'null'
  | 'date'
  | 'objectId'
  | 'object'
>;

type Named = readonly [FieldType, string];

export const TYPES: Readonly<Record<Api, readonly Named[]>> = {
  nosql: [
    ['string', 'String'],
    ['number', 'Number'],
    ['boolean', 'Boolean'],
    ['null', 'Null'],
    ['object', 'Object or array (JSON)'],
  ],
  mongo: [
    ['string', 'String'],
    ['int', 'Int32'],
    ['long', 'Int64 (Long)'],
    ['double', 'Double'],
    ['decimal', 'Decimal128'],
    ['boolean', 'Boolean'],
    ['date', 'Date'],
    ['objectId', 'ObjectId'],
    ['null', 'Null'],
    ['object', 'Any value (shell syntax)'],
  ],
};

/** A sample value of each type for the parser. */
const INSTEAD_OF: Readonly<Record<Exclude<FieldType, 'null' | 'object'>, unknown>> = {
  string: '',
  number: 0,
  int: new Int32(0),
  long: Long.ZERO,
  double: new Double(0),
  decimal: Decimal128.fromString('0'),
  boolean: false,
  date: new Date(0),
  objectId: new ObjectId('0'.repeat(24)),
};

export interface FieldTyped {
  path: string;
  does: FieldChange['does'];
  /** null: the most frequent type of the field. */
  type: FieldType | null;
  text: string;
  /** The new path in a rename. */
  to: string;
}

export const UNTYPED: FieldTyped = { path: '', does: 'set', type: null, text: '', to: '' };

/** Errors by input of the form; empty text: nothing is typed yet. */
export type Wrong = Partial<Record<'path' | 'text' | 'to', string>>;

export type ReadChange = { change: FieldChange } | { wrong: Wrong };

/** Number of rows sampled for the most frequent type. */
const SAMPLE = 1000;

/** Returns the most frequent type at a path that can be typed. */
export function usualType(rows: readonly Row[], path: string, api: Api): FieldType {
  const counts = new Map<FieldType, number>();
  const parts = partsOfPath(path);
  for (const { value } of path === '' ? [] : rows.slice(0, SAMPLE)) {
    const kind = kindOf(valueAtPath(value, parts));
    const type = TYPES[api].find(([name]) => name === (kind === 'array' ? 'object' : kind))?.[0];
    // Absent and null values do not count.
    if (type !== undefined && type !== 'null') counts.set(type, (counts.get(type) ?? 0) + 1);
  }
  const [most] = [...counts].sort((a, b) => b[1] - a[1]);
  return most?.[0] ?? 'string';
}

function withParts(text: string, api: Api): Typed {
  if (api === 'mongo') {
    const read = parseShell(text);
    return 'error' in read ? { error: read.error } : { value: read.value };
  }
  const read = readJson(text);
  if ('error' in read) return { error: read.error };
  const value: unknown = JSON.parse(text);
  return isInexact(value)
    ? { error: 'A number has too many digits: change it in the editor.' }
    : { value };
}

/** Parses typed text as a value of a type. */
export function typedOf(text: string, type: FieldType, api: Api): Typed {
  if (type === 'null') return { value: null };
  if (type === 'object') return withParts(text, api);
  return typedValue(text, INSTEAD_OF[type], api);
}

export function readChange(typed: FieldTyped, type: FieldType, rules: Rules): ReadChange {
  const wrong: Wrong = {};
  const path = partsOfPath(typed.path.trim());
  const why = typed.path.trim() === '' ? '' : whyNotPath(path, rules);
  if (why !== null) wrong.path = why;
  if (typed.does === 'rename') {
    const to = partsOfPath(typed.to.trim());
    const whyNot = typed.to.trim() === '' ? '' : whyNotRenamed(path, to, rules);
    if (whyNot !== null) wrong.to = whyNot;
    return Object.keys(wrong).length > 0 ? { wrong } : { change: { does: 'rename', path, to } };
  }
  if (typed.does === 'remove')
    return why === null ? { change: { does: 'remove', path } } : { wrong };
  const read = typedOf(typed.text, type, rules.api);
  // A string may be empty.
  const isUntyped = type !== 'string' && typed.text.trim() === '';
  if ('error' in read) wrong.text = isUntyped ? '' : read.error;
  return 'value' in read && why === null
    ? { change: { does: 'set', path, value: read.value } }
    : { wrong };
}
