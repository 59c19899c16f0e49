// Of what type a value of a document is, in the words of the database it came from. Values are those of
// BSON as they were read without promotion, or those of JSON.parse. Converts nothing.

export type Kind =
  | 'missing'
  | 'null'
  | 'boolean'
  /** Of JSON, which has one type of number. */
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

/** The names that the BSON library gives its classes. */
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

/** Whether a value is an object that has fields of its own, not a value that a class stands for. */
export function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return kindOf(value) === 'object';
}
