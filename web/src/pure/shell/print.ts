// Prints MongoDB values in shell syntax, so that parsing restores the same types and values.
import {
  Binary,
  BSONRegExp,
  BSONSymbol,
  Code,
  DBRef,
  Decimal128,
  Double,
  Int32,
  Long,
  MaxKey,
  MinKey,
  ObjectId,
  Timestamp,
} from 'bson';
import { FarDate } from '../farDate';
import { looksExtended } from './values';

const PLAIN_KEY = /^[A-Za-z_$][\w$]*$/;
const PLAIN_PATTERN =
  /^(?:[^/\\[\n\r*]|\\[^\n\r]|\[(?:[^\]\\\n\r]|\\[^\n\r])*\])(?:[^/\\[\n\r]|\\[^\n\r]|\[(?:[^\]\\\n\r]|\\[^\n\r])*\])*$/;

const quote = (text: string) => JSON.stringify(text);

function double(value: number): string {
  if (Object.is(value, -0)) return '-0.0';
  const text = String(value);
  return /^-?\d+$/.test(text) ? `${text}.0` : text;
}

/** Prints a JavaScript number with the type that the driver would store. */
function plain(value: number): string {
  const isInt = Number.isInteger(value) && Math.abs(value) < 2 ** 31 && !Object.is(value, -0);
  return isInt ? String(value) : double(value);
}

/** A date that the parser cannot restore is printed in a form that it refuses. */
function date(value: Date): string {
  if (value instanceof FarDate) return `{ $date: { $numberLong: "${value.ms}" } }`;
  return Number.isNaN(value.getTime())
    ? 'ISODate("out of range")'
    : `ISODate("${value.toISOString()}")`;
}

function binary(value: Binary): string {
  if (value.sub_type === Binary.SUBTYPE_UUID && value.length() === 16) {
    return `UUID("${value.toUUID().toHexString(true)}")`;
  }
  return `BinData(${value.sub_type}, "${value.toString('base64')}")`;
}

function regExp({ pattern, options }: BSONRegExp): string {
  const known = /^[imxlsu]*$/.test(options);
  if (known && PLAIN_PATTERN.test(pattern)) return `/${pattern}/${options}`;
  return `BSONRegExp(${quote(pattern)}, ${quote(options)})`;
}

function code(value: Code, indent: number): string {
  const scope = value.scope === null ? '' : `, ${nested(value.scope, indent, '')}`;
  return `Code(${quote(value.code)}${scope})`;
}

/** Prints a scalar; null if the value is an object or array. */
function single(value: unknown): string | null {
  if (value === null) return 'null';
  if (typeof value === 'string') return quote(value);
  if (typeof value === 'number') return plain(value);
  if (typeof value === 'bigint') return `NumberLong("${value}")`;
  if (typeof value !== 'object') return String(value);
  if (value instanceof Double) return double(value.value);
  if (value instanceof Int32) return String(value.value);
  // A Timestamp is also a Long.
  if (value instanceof Timestamp) return `Timestamp({ t: ${value.t}, i: ${value.i} })`;
  if (value instanceof Long) return `NumberLong("${value.toString()}")`;
  if (value instanceof ObjectId) return `ObjectId("${value.toHexString()}")`;
  if (value instanceof Date) return date(value);
  if (value instanceof Decimal128) return `NumberDecimal("${value.toString()}")`;
  if (value instanceof Binary) return binary(value);
  if (value instanceof BSONRegExp) return regExp(value);
  if (value instanceof MinKey) return 'MinKey()';
  if (value instanceof MaxKey) return 'MaxKey()';
  if (value instanceof BSONSymbol) return `BSONSymbol(${quote(value.value)})`;
  return null;
}

function enclosed(
  open: string,
  parts: string[],
  close: string,
  indent: number,
  before: string,
): string {
  if (parts.length === 0) return open + close;
  if (indent === 0) {
    const space = open === '{' ? ' ' : '';
    return open + space + parts.join(', ') + space + close;
  }
  const inner = before + ' '.repeat(indent);
  return `${open}\n${inner}${parts.join(`,\n${inner}`)}\n${before}${close}`;
}

function entriesOf(value: object): [string, unknown][] {
  if (!(value instanceof DBRef)) return Object.entries(value);
  const named: [string, unknown][] = [
    ['$ref', value.collection],
    ['$id', value.oid],
  ];
  if (value.db !== undefined) named.push(['$db', value.db]);
  return [...named, ...Object.entries(value.fields)];
}

function nested(value: unknown, indent: number, before: string): string {
  const text = single(value);
  if (text !== null) return text;
  if (value instanceof Code) return code(value, 0);
  const inner = before + ' '.repeat(indent);
  if (Array.isArray(value)) {
    const parts = value.map((element) => nested(element, indent, inner));
    return enclosed('[', parts, ']', indent, before);
  }
  // Keys of an object that looks like Extended JSON are printed in brackets, which makes them
  // ordinary.
  const isObject = looksExtended(value as object);
  const name = (key: string) =>
    isObject ? `[${quote(key)}]` : PLAIN_KEY.test(key) ? key : quote(key);
  const parts = entriesOf(value as object).map(
    ([key, held]) => `${name(key)}: ${nested(held, indent, inner)}`,
  );
  return enclosed('{', parts, '}', indent, before);
}

/** Prints one value; on one line if `indent` is 0. */
export function printShell(value: unknown, indent = 2): string {
  return nested(value, indent, '');
}
