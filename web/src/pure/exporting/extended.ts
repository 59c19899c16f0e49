// Writes documents of MongoDB as Extended JSON on one line. Canonical text keeps every type; relaxed text
// has plain numbers, and a double that is whole ends with .0, so that it is read as a double again.
import { EJSON } from 'bson';
import type { Document } from '../importing/found';
import { kindOf } from '../values/kind';

export type Dialect = 'relaxed' | 'canonical';

function double(value: number): string {
  if (!Number.isFinite(value)) return JSON.stringify({ $numberDouble: String(value) });
  if (Object.is(value, -0)) return '-0.0';
  const text = String(value);
  return /^-?\d+$/.test(text) ? `${text}.0` : text;
}

function object(value: object): string {
  const parts = Object.entries(value)
    .filter(([, held]) => held !== undefined)
    .map(([name, held]) => `${JSON.stringify(name)}:${relaxedText(held)}`);
  return `{${parts.join(',')}}`;
}

/** A value in relaxed Extended JSON. */
export function relaxedText(value: unknown): string {
  switch (kindOf(value)) {
    case 'missing':
      return 'null';
    case 'int':
    case 'long':
      return String(value);
    case 'double':
      return double(Number(value));
    case 'number':
      return Number.isInteger(value) ? String(value) : double(value as number);
    case 'array':
      return `[${(value as unknown[]).map(relaxedText).join(',')}]`;
    case 'object':
      return object(value as object);
    case 'null':
    case 'boolean':
    case 'string':
      return JSON.stringify(value);
    default:
      return EJSON.stringify(value, { relaxed: true });
  }
}

/** A document on one line. */
export function documentText(document: Document, dialect: Dialect): string {
  return dialect === 'canonical'
    ? EJSON.stringify(document, { relaxed: false })
    : relaxedText(document);
}
