// Builds values of shell constructors (`ObjectId("…")`) and Extended JSON (`{"$oid": "…"}`). Works
// on values, not text; throws a message for invalid ones.
import {
  Binary,
  BSONRegExp,
  BSONSymbol,
  Code,
  DBRef,
  Decimal128,
  type Document,
  Double,
  Int32,
  Long,
  MaxKey,
  MinKey,
  ObjectId,
  Timestamp,
  UUID,
} from 'bson';
import { dateOf } from '../farDate';

/** An invalid value; the parser adds the position. */
export class BadValue extends Error {}

type Arguments = readonly unknown[];

function text(value: unknown, what: string): string {
  if (typeof value !== 'string') throw new BadValue(`${what} must be a string in quotes`);
  return value;
}

/** Converts any number type or a string to a 64-bit integer. */
function whole(value: unknown, what: string): bigint {
  const written =
    typeof value === 'string' || value instanceof Long || value instanceof Int32
      ? value.toString()
      : value instanceof Double && Number.isInteger(value.value)
        ? BigInt(value.value).toString()
        : '';
  if (!/^[+-]?\d{1,30}$/.test(written)) throw new BadValue(`${what} must be a whole number`);
  return BigInt(written.replace(/^\+/, ''));
}

function between(value: bigint, least: bigint, most: bigint, what: string): bigint {
  if (value < least || value > most) throw new BadValue(`${what} must be from ${least} to ${most}`);
  return value;
}

const INT64 = 2n ** 63n;
const UINT32 = 2n ** 32n;

function long(value: unknown): Long {
  const found = between(whole(value, 'NumberLong'), -INT64, INT64 - 1n, 'NumberLong');
  return Long.fromBigInt(found);
}

function int(value: unknown): Int32 {
  return new Int32(
    Number(between(whole(value, 'NumberInt'), -(2n ** 31n), 2n ** 31n - 1n, 'NumberInt')),
  );
}

function double(value: unknown): Double {
  if (value instanceof Double) return value;
  if (typeof value === 'string') {
    const special = { NaN: Number.NaN, Infinity: Infinity, '-Infinity': -Infinity }[value];
    if (special !== undefined) return new Double(special);
    if (/^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/.test(value)) return new Double(Number(value));
  }
  if (value instanceof Int32 || value instanceof Long) return new Double(Number(value.toString()));
  throw new BadValue('Double must be a number');
}

function decimal(value: unknown): Decimal128 {
  const known = value instanceof Int32 || value instanceof Long || value instanceof Double;
  const written = known ? value.toString() : text(value, 'NumberDecimal');
  try {
    return Decimal128.fromString(written);
  } catch {
    throw new BadValue(`NumberDecimal cannot hold ${JSON.stringify(written)}`);
  }
}

const INSTANT =
  /^(\d{4}|[+-]\d{6})-(\d\d)-(\d\d)(?:[T ](\d\d:\d\d)(:\d\d)?(\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d)?$/;

/** Converts to a date; without a zone it is UTC, not the browser's zone. */
function date(value: unknown): Date {
  if (value instanceof Int32 || value instanceof Long || value instanceof Double) {
    const isPart = value instanceof Double && !Number.isInteger(value.value);
    if (isPart && Number.isFinite(value.value)) return new Date(value.value);
    if (isPart) throw new BadValue('the date is out of range');
    return dateOf(between(whole(value, 'a date'), -INT64, INT64 - 1n, 'a date'));
  }
  const written = text(value, 'a date');
  const parts = INSTANT.exec(written);
  if (parts === null) {
    throw new BadValue(`${JSON.stringify(written)} is not a date like 2026-01-31T12:00:00Z`);
  }
  const [, year, month, day, minutes = '00:00', seconds = ':00', fraction = '', zone = 'Z'] = parts;
  const iso = `${year}-${month}-${day}T${minutes}${seconds}${fraction}`;
  const offset = zone.replace(/^([+-]\d\d)(\d\d)$/, '$1:$2');
  const made = new Date(iso + offset);
  const local = new Date(`${iso}Z`);
  if (Number.isNaN(made.getTime()) || local.getUTCDate() !== Number(day)) {
    throw new BadValue(`${JSON.stringify(written)} is not a valid date`);
  }
  return made;
}

function objectId(value: unknown): ObjectId {
  if (value === undefined) {
    throw new BadValue('ObjectId needs 24 hex digits; omit _id to generate one');
  }
  if (typeof value !== 'string' || !/^[0-9a-fA-F]{24}$/.test(value)) {
    throw new BadValue('ObjectId needs 24 hex digits');
  }
  return ObjectId.createFromHexString(value);
}

function uuid(value: unknown): UUID {
  const digits = text(value, 'UUID').replace(/-/g, '');
  if (!/^[0-9a-fA-F]{32}$/.test(digits)) throw new BadValue('UUID needs 32 hex digits');
  return UUID.createFromHexString(digits);
}

function subtype(value: unknown): number {
  return Number(between(whole(value, 'the subtype'), 0n, 255n, 'the subtype'));
}

function base64(value: unknown, kind: number): Binary {
  const written = text(value, 'BinData').replace(/\s/g, '');
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(written) || written.length % 4 !== 0) {
    throw new BadValue('BinData needs base64');
  }
  return Binary.createFromBase64(written, kind);
}

function hex(value: unknown, kind: number): Binary {
  const digits = text(value, 'HexData');
  if (!/^([0-9a-fA-F]{2})*$/.test(digits)) throw new BadValue('HexData needs pairs of hex digits');
  return Binary.createFromHexString(digits, kind);
}

function timestamp(t: unknown, i: unknown): Timestamp {
  const part = (value: unknown, name: string) =>
    Number(
      between(whole(value, `${name} of a Timestamp`), 0n, UINT32 - 1n, `${name} of a Timestamp`),
    );
  return new Timestamp({ t: part(t, 't'), i: part(i, 'i') });
}

/** Builds a regular expression; only the server checks its pattern. */
export function regExp(pattern: unknown, options: unknown): BSONRegExp {
  const [source, flags] = [text(pattern, 'a pattern'), text(options ?? '', 'options')];
  if (source.includes('\0')) throw new BadValue('a pattern cannot contain a zero byte');
  const bad = [...flags].find((flag, at) => !'imxlsu'.includes(flag) || flags.indexOf(flag) !== at);
  if (bad !== undefined) throw new BadValue(`unsupported regular expression option "${bad}"`);
  return new BSONRegExp(source, flags);
}

function isDocument(value: unknown): value is Document {
  return (
    typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
  );
}

function code(source: unknown, scope: unknown): Code {
  if (scope !== undefined && !isDocument(scope)) throw new BadValue('a scope must be an object');
  return new Code(text(source, 'Code'), scope ?? null);
}

function dbRef(args: Arguments): DBRef {
  const database = args[2] === undefined ? undefined : text(args[2], 'the database');
  if (args[1] === undefined) throw new BadValue('DBRef needs a collection and an id');
  return new DBRef(text(args[0], 'the collection'), args[1] as ObjectId, database);
}

/** By name: minimum and maximum number of arguments, and the factory. */
const MAKERS: Record<string, [least: number, most: number, make: (args: Arguments) => unknown]> = {
  ObjectId: [0, 1, ([value]) => objectId(value)],
  ISODate: [1, 1, ([value]) => date(value)],
  NumberInt: [1, 1, ([value]) => int(value)],
  NumberLong: [1, 1, ([value]) => long(value)],
  Double: [1, 1, ([value]) => double(value)],
  NumberDecimal: [1, 1, ([value]) => decimal(value)],
  UUID: [1, 1, ([value]) => uuid(value)],
  BinData: [2, 2, ([kind, value]) => base64(value, subtype(kind))],
  HexData: [2, 2, ([kind, value]) => hex(value, subtype(kind))],
  Timestamp: [
    1,
    2,
    ([t, i]) =>
      isDocument(t) ? timestamp(t.t ?? new Int32(0), t.i ?? new Int32(0)) : timestamp(t, i),
  ],
  BSONRegExp: [1, 2, ([pattern, options]) => regExp(pattern, options)],
  MinKey: [0, 0, () => new MinKey()],
  MaxKey: [0, 0, () => new MaxKey()],
  Code: [1, 2, ([source, scope]) => code(source, scope)],
  BSONSymbol: [1, 1, ([value]) => new BSONSymbol(text(value, 'BSONSymbol'))],
  DBRef: [2, 3, dbRef],
};

const OTHER_NAMES: Record<string, string> = {
  ObjectID: 'ObjectId',
  Date: 'ISODate',
  Int32: 'NumberInt',
  Long: 'NumberLong',
  NumberDouble: 'Double',
  Decimal128: 'NumberDecimal',
  RegExp: 'BSONRegExp',
  Symbol: 'BSONSymbol',
};

function makerOf(name: string) {
  const own = Object.hasOwn(OTHER_NAMES, name) ? (OTHER_NAMES[name] ?? name) : name;
  return Object.hasOwn(MAKERS, own) ? MAKERS[own] : undefined;
}

/** Returns whether `name(…)` is a known constructor. */
export function isConstructor(name: string): boolean {
  return makerOf(name) !== undefined;
}

export function construct(name: string, args: Arguments): unknown {
  const maker = makerOf(name);
  if (maker === undefined) throw new BadValue(`unknown name ${name}`);
  const [least, most, make] = maker;
  if (args.length < least || args.length > most) {
    const wanted = least === most ? `${least}` : `${least} to ${most}`;
    throw new BadValue(
      `${name} takes ${wanted} argument${most === 1 ? '' : 's'}, not ${args.length}`,
    );
  }
  return make(args);
}

function part(value: unknown, name: string): unknown {
  if (!isDocument(value)) throw new BadValue(`expected an object with ${name}`);
  return value[name];
}

/** Extended JSON by its sorted keys, with the factory of the value. */
const EXTENDED: Record<string, (object: Document) => unknown> = {
  $oid: (object) => objectId(object.$oid ?? null),
  $date: (object) => date(object.$date),
  $numberInt: (object) => int(object.$numberInt),
  $numberLong: (object) => long(object.$numberLong),
  $numberDouble: (object) => double(object.$numberDouble),
  $numberDecimal: (object) => decimal(object.$numberDecimal),
  $uuid: (object) => uuid(object.$uuid),
  $symbol: (object) => new BSONSymbol(text(object.$symbol, '$symbol')),
  $minKey: () => new MinKey(),
  $maxKey: () => new MaxKey(),
  $undefined: () => undefined,
  $timestamp: ({ $timestamp: at }) => timestamp(part(at, 't'), part(at, 'i')),
  $regularExpression: ({ $regularExpression: of }) =>
    regExp(part(of, 'pattern'), part(of, 'options')),
  $binary: ({ $binary: of }) =>
    base64(part(of, 'base64'), Number.parseInt(text(part(of, 'subType'), 'subType'), 16) || 0),
  '$binary,$type': ({ $binary: data, $type: kind }) =>
    base64(data, Number.parseInt(text(kind, '$type'), 16) || 0),
  $code: (object) => code(object.$code, undefined),
  '$code,$scope': (object) => code(object.$code, object.$scope),
};

function extendedOf(object: object) {
  const keys = Object.keys(object).sort().join(',');
  return Object.hasOwn(EXTENDED, keys) ? EXTENDED[keys] : undefined;
}

/** Returns whether an object has the keys of an Extended JSON value. */
export function looksExtended(object: object): boolean {
  return extendedOf(object) !== undefined;
}

/** Returns the value of an Extended JSON object, or the object itself. */
export function fromExtended(object: Document): unknown {
  const read = extendedOf(object);
  return read === undefined ? object : read(object);
}

const EXTENDED_KEYS = new Set(Object.keys(EXTENDED).flatMap((keys) => keys.split(',')));

/** Returns whether a key can occur in an Extended JSON value. */
export function isExtendedKey(key: string): boolean {
  return EXTENDED_KEYS.has(key);
}
