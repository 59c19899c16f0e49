// Types of values, named as in their database. Values are unpromoted BSON or come from JSON.parse.
// Converts nothing.

export type Kind =
  | 'missing'
  | 'null'
  | 'boolean'
  /** JSON has a single number type. */
  | 'number'
  | 'int'
  | 'long'
  | 'double'
  | 'decimal'
  | 'string'
  | 'symbol'
  | 'object'
  | 'array'
  | 'binary'
  | 'objectId'
  | 'date'
  | 'timestamp'
  | 'regex'
  | 'code'
  | 'dbRef'
  | 'minKey'
  | 'maxKey';

/** By the class names of the BSON library. */
const OF_BSON: Readonly<Record<string, Kind>> = {
  Int32: 'int',
  Long: 'long',
  Double: 'double',
  Decimal128: 'decimal',
  BSONSymbol: 'symbol',
  Binary: 'binary',
  ObjectId: 'objectId',
  Timestamp: 'timestamp',
  BSONRegExp: 'regex',
  Code: 'code',
  DBRef: 'dbRef',
  MinKey: 'minKey',
  MaxKey: 'maxKey',
};

function ofObject(value: object): Kind {
  if (Array.isArray(value)) return 'array';
  if (value instanceof Date) return 'date';
  const isPlain = Object.getPrototypeOf(value) === Object.prototype;
  if (isPlain) return 'object';
  const name = (value as { _bsontype?: unknown })._bsontype;
  return (typeof name === 'string' ? OF_BSON[name] : undefined) ?? 'object';
}

export function kindOf(value: unknown): Kind {
  if (value === undefined) return 'missing';
  if (value === null) return 'null';
  if (typeof value === 'object') return ofObject(value);
  if (typeof value === 'boolean') return 'boolean';
  if (typeof value === 'bigint') return 'long';
  return typeof value === 'number' ? 'number' : 'string';
}

const NUMBERS: ReadonlySet<Kind> = new Set(['number', 'int', 'long', 'double', 'decimal']);

export function isNumeric(kind: Kind): boolean {
  return NUMBERS.has(kind);
}

/** Returns whether a value is an object with fields, not an instance of a BSON class. */
export function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return kindOf(value) === 'object';
}
