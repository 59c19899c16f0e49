// Sort orders of both databases for values of all types. Long and decimal values are compared
// exactly with each other and with integers; decimals with doubles at the precision of a double.
import type { Binary, BSONRegExp, Code, Document, Long, ObjectId } from 'bson';
import { msOf } from '../farDate';
import { isNumeric, type Kind, kindOf } from './kind';

export type Api = 'mongo' | 'nosql';

const ORDER: Readonly<Record<Api, readonly (readonly Kind[])[]>> = {
  mongo: [
    ['minKey'],
    ['missing', 'null'],
    ['number', 'int', 'long', 'double', 'decimal'],
    ['string', 'symbol'],
    ['object', 'dbRef'],
    ['array'],
    ['binary'],
    ['objectId'],
    ['boolean'],
    ['date'],
    ['timestamp'],
    ['regex'],
    ['code'],
    ['maxKey'],
  ],
  nosql: [['missing'], ['null'], ['boolean'], ['number'], ['string'], ['array'], ['object']],
};

function ranksOf(api: Api): ReadonlyMap<Kind, number> {
  return new Map(ORDER[api].flatMap((kinds, rank) => kinds.map((kind) => [kind, rank] as const)));
}

const RANKS = { mongo: ranksOf('mongo'), nosql: ranksOf('nosql') };

const sign = (a: number | bigint | string, b: typeof a) => (a < b ? -1 : a > b ? 1 : 0);

/** Compares by code points, like UTF-8 and unlike UTF-16. */
export function compareTexts(a: string, b: string): number {
  const least = Math.min(a.length, b.length);
  let at = 0;
  while (at < least && a.charCodeAt(at) === b.charCodeAt(at)) at += 1;
  if (at === least) return sign(a.length, b.length);
  const [x, y] = [a.charCodeAt(at), b.charCodeAt(at)];
  const [high, other] = [x >= 0xd800 && x < 0xe000, y >= 0xd800 && y < 0xe000];
  return high === other ? sign(x, y) : high ? 1 : -1;
}

function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const least = Math.min(a.length, b.length);
  for (let at = 0; at < least; at += 1) {
    if (a[at] !== b[at]) return sign(a[at] ?? 0, b[at] ?? 0);
  }
  return sign(a.length, b.length);
}

/** Returns a decimal's digits as an integer, and its power of ten. */
function scaled(text: string): [bigint, number] | null {
  const parts = /^([+-]?)(\d+)(?:\.(\d*))?(?:E([+-]?\d+))?$/i.exec(text);
  if (parts === null) return null;
  const [, minus = '', whole = '', fraction = '', power = '0'] = parts;
  const digits = BigInt(whole + fraction);
  return [minus === '-' ? -digits : digits, Number(power) - fraction.length];
}

/** Compares decimals of equal sign and similar magnitude by scaling them to the same power. */
function compareScaled([a, ea]: [bigint, number], [b, eb]: [bigint, number]): number {
  const least = Math.min(ea, eb);
  return sign(a * 10n ** BigInt(ea - least), b * 10n ** BigInt(eb - least));
}

const isExact = (kind: Kind) => kind === 'long' || kind === 'decimal' || kind === 'int';

function compareNumbers(a: unknown, b: unknown, kinds: [Kind, Kind]): number {
  const [x, y] = [Number(String(a)), Number(String(b))];
  if (Number.isNaN(x) || Number.isNaN(y))
    return sign(Number(!Number.isNaN(x)), Number(!Number.isNaN(y)));
  const apart = sign(x, y);
  if (apart !== 0 || !Number.isFinite(x)) return apart;
  const [exactX, exactY] = [isExact(kinds[0]), isExact(kinds[1])];
  if (exactX && exactY) {
    const [p, q] = [scaled(String(a)), scaled(String(b))];
    return p === null || q === null ? 0 : compareScaled(p, q);
  }
  // A double is exact, but a nearby long may have been rounded to it.
  if (kinds[0] === 'long' && Number.isInteger(y)) return sign(BigInt(String(a)), BigInt(y));
  if (kinds[1] === 'long' && Number.isInteger(x)) return sign(BigInt(x), BigInt(String(b)));
  return 0;
}

function compareArrays(a: readonly unknown[], b: readonly unknown[], api: Api): number {
  const least = Math.min(a.length, b.length);
  for (let at = 0; at < least; at += 1) {
    const apart = compareValues(a[at], b[at], api);
    if (apart !== 0) return apart;
  }
  return sign(a.length, b.length);
}

/** Compares field by field: MongoDB compares the type, then the name, then the value. */
function compareObjects(a: object, b: object, api: Api): number {
  const [x, y] = [Object.entries(a), Object.entries(b)];
  const least = Math.min(x.length, y.length);
  for (let at = 0; at < least; at += 1) {
    const [[nameX, valueX], [nameY, valueY]] = [x[at] ?? ['', 0], y[at] ?? ['', 0]];
    const ranks = api === 'mongo' ? sign(rankOf(valueX, api), rankOf(valueY, api)) : 0;
    const apart = ranks || compareTexts(nameX, nameY) || compareValues(valueX, valueY, api);
    if (apart !== 0) return apart;
  }
  return sign(x.length, y.length);
}

function compareBinaries(a: Binary, b: Binary): number {
  const lengths = sign(a.length(), b.length()) || sign(a.sub_type, b.sub_type);
  return lengths || compareBytes(a.value(), b.value());
}

function compareCodes(a: Code, b: Code): number {
  const scopes = (code: Code) => (code.scope ?? {}) as Document;
  return compareTexts(a.code, b.code) || compareObjects(scopes(a), scopes(b), 'mongo');
}

function compareSpecial(a: unknown, b: unknown, kind: Kind): number {
  switch (kind) {
    case 'binary':
      return compareBinaries(a as Binary, b as Binary);
    case 'objectId':
      return sign((a as ObjectId).toHexString(), (b as ObjectId).toHexString());
    case 'date':
      return sign(msOf(a as Date), msOf(b as Date));
    case 'timestamp':
      return sign((a as Long).toBigInt(), (b as Long).toBigInt());
    case 'regex': {
      const [x, y] = [a as BSONRegExp, b as BSONRegExp];
      return compareTexts(x.pattern, y.pattern) || compareTexts(x.options, y.options);
    }
    case 'code':
      return compareCodes(a as Code, b as Code);
    default:
      return 0;
  }
}

function rankOf(value: unknown, api: Api): number {
  return RANKS[api].get(kindOf(value)) ?? Number.MAX_SAFE_INTEGER;
}

/** Returns a negative number if `a` sorts before `b`, a positive one if after. */
export function compareValues(a: unknown, b: unknown, api: Api): number {
  const kinds: [Kind, Kind] = [kindOf(a), kindOf(b)];
  const ranks = sign(rankOf(a, api), rankOf(b, api));
  if (ranks !== 0) return ranks;
  const [kind] = kinds;
  if (isNumeric(kind)) return compareNumbers(a, b, kinds);
  if (kind === 'string' || kind === 'symbol') return compareTexts(String(a), String(b));
  if (kind === 'boolean') return sign(Number(a), Number(b));
  if (kind === 'array') return compareArrays(a as unknown[], b as unknown[], api);
  if (kind === 'object' || kind === 'dbRef') return compareObjects(a as object, b as object, api);
  return compareSpecial(a, b, kind);
}

/** Returns the sort key: MongoDB sorts an array by its minimum or, descending, its maximum. */
function sortValue(value: unknown, api: Api, direction: 1 | -1): unknown {
  if (api === 'nosql' || !Array.isArray(value)) return value;
  return value.reduce<unknown>(
    (best, next) => (compareValues(next, best, api) * direction < 0 ? next : best),
    value[0],
  );
}

/** Sorts rows by a key; stable. */
export function sortedBy<T>(
  rows: readonly T[],
  read: (row: T) => unknown,
  api: Api,
  direction: 1 | -1,
): T[] {
  const isEmpty = (value: unknown) => api === 'mongo' && Array.isArray(value) && value.length === 0;
  const keyed = rows.map((row) => {
    const value = read(row);
    return { row, isEmpty: isEmpty(value), value: sortValue(value, api, direction) };
  });
  // An empty array sorts before null; a missing value sorts like null.
  const compare = (a: (typeof keyed)[number], b: (typeof keyed)[number]) => {
    if (a.isEmpty !== b.isEmpty) {
      const other = a.isEmpty ? b : a;
      const before = kindOf(other.value) === 'minKey' ? 1 : -1;
      return a.isEmpty ? before : -before;
    }
    return compareValues(a.value, b.value, api);
  };
  return keyed.sort((a, b) => compare(a, b) * direction).map(({ row }) => row);
}
