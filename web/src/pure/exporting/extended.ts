// Serializes MongoDB documents as Extended JSON on one line. Canonical text keeps every type;
// relaxed text has plain numbers, and an integral double ends with .0, so that it is parsed as a
// double again.
import { EJSON } from 'bson';
import { countFar, extendedFar, FarDate } from '../farDate';
import type { Document } from '../importing/found';
import { isPlainObject, kindOf } from '../values/kind';

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

/** Serializes a value as relaxed Extended JSON. */
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
    case 'date':
      if (value instanceof FarDate) return JSON.stringify(extendedFar(value));
      return EJSON.stringify(value, { relaxed: true });
    default:
      return EJSON.stringify(value, { relaxed: true });
  }
}

/** Returns the value with far dates as Extended JSON objects, which EJSON passes through. */
function withoutFar(value: unknown): unknown {
  if (value instanceof FarDate) return extendedFar(value);
  if (Array.isArray(value)) return value.map(withoutFar);
  if (!isPlainObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, held]) => [name, withoutFar(held)]));
}

/** Serializes a document on one line. */
export function documentText(document: Document, dialect: Dialect): string {
  if (dialect === 'relaxed') return relaxedText(document);
  const plain = countFar(document) === 0 ? document : withoutFar(document);
  return EJSON.stringify(plain, { relaxed: false });
}
