import {
  Binary,
  BSONRegExp,
  BSONSymbol,
  Code,
  DBRef,
  Decimal128,
  Double,
  deserialize,
  Int32,
  Long,
  MaxKey,
  MinKey,
  ObjectId,
  serialize,
  Timestamp,
  UUID,
} from 'bson';
import { expect, test } from 'vitest';
import { processorMs } from '../testing/processor';
import { parseShell, printShell } from '.';

function read(text: string): unknown {
  const parsed = parseShell(text);
  if ('error' in parsed) throw new Error(`${parsed.error} at ${parsed.at} of ${text}`);
  return parsed.value;
}
const bytes = (value: unknown) => Array.from(serialize({ value })).join(' ');
/** Decodes a value as if received from the server. */
const received = (value: unknown) =>
  deserialize(serialize({ value }), {
    promoteValues: false,
    promoteBuffers: false,
    bsonRegExp: true,
  }).value;

const ID = new ObjectId('65a000000000000000000001');
const SINGLE: unknown[] = [
  null,
  true,
  false,
  '',
  'a',
  'q"\'\\\n\r\t\u0000\u2028é😀',
  '// no comment',
  '/* */',
  '$oid',
  new Int32(0),
  new Int32(-1),
  new Int32(2147483647),
  new Int32(-2147483648),
  ...[
    0,
    -0,
    1,
    20,
    20.5,
    -5,
    0.1,
    1e21,
    1e300,
    5e-324,
    1.7976931348623157e308,
    2 ** 53,
    2 ** 63,
    123456789012345680000,
    Number.NaN,
    Infinity,
    -Infinity,
  ].map((n) => new Double(n)),
  ...[
    '0',
    '1',
    '-1',
    '2147483648',
    '9007199254740993',
    '9223372036854775807',
    '-9223372036854775808',
  ].map((n) => Long.fromString(n)),
  ...[
    '0',
    '-0',
    '20.0',
    '1E+6144',
    '1E-6176',
    '9.999999999999999999999999999999999E+6144',
    'NaN',
    'Infinity',
    '-Infinity',
    '0.10',
  ].map((n) => Decimal128.fromString(n)),
  ID,
  new Date(0),
  new Date(-1),
  new Date(8.64e15),
  new Date(-8.64e15),
  new Date('2038-01-19T03:14:08.001Z'),
  new Date('9999-12-31T23:59:59.999Z'),
  new Date(253402300800000),
  new Date(-62198755200000),
  new UUID('0123e456-e89b-42d3-a456-426614174000'),
  new Binary(new Uint8Array([1, 2, 3]), 0),
  new Binary(new Uint8Array(0), 128),
  new Binary(new Uint8Array([9]), 4),
  new Binary(new Uint8Array(16), 3),
  new Binary(new Uint8Array([255, 254]), 5),
  new Binary(new Uint8Array([1, 2]), 2),
  new Timestamp({ t: 4294967295, i: 4294967295 }),
  new Timestamp({ t: 0, i: 1 }),
  ...[
    ['a', ''],
    ['^a.*$', 'im'],
    ['a/b', ''],
    ['a\\/b', 'x'],
    ['[/]', ''],
    ['', ''],
    ['a\nb', 's'],
    ['*', ''],
    ['a\\', ''],
    ['[', ''],
    ['/', 'i'],
    ['\\\\', ''],
    ['é', 'u'],
  ].map(([p, o]) => new BSONRegExp(p ?? '', o)),
  new MinKey(),
  new MaxKey(),
  new BSONSymbol('s'),
  new Code('function () { return "x" }'),
  new Code('x', { x: new Int32(1), y: [new Double(1)] }),
  new DBRef('users', ID),
  new DBRef('users', ID, 'other', { more: new Int32(1) }),
];

const HELD: unknown[] = [
  {},
  [],
  [[], {}],
  { a: [] },
  { a: new Int32(1), 'b c': 'x', $gt: new Double(1), '1a': null, '': true, '"': false, é: true },
  { ['__proto__']: new Int32(1), constructor: new Int32(2), toString: 'x' },
  // Stored as plain objects; they must not turn into Extended JSON values.
  { $oid: '65a000000000000000000001' },
  { $numberLong: '5', a: new Int32(1) },
  { $date: new Int32(1) },
  { $minKey: new Int32(1) },
  { x: { $undefined: true } },
  [{ a: [new Long(1), [new Double(-0)]] }, 'x'],
];

test.each([0, 1, 2, 4])('what is printed reads as the same bytes, indent %i', (indent) => {
  for (const value of [...SINGLE, SINGLE, ...HELD, HELD]) {
    const known = received(value);
    const text = printShell(known, indent);
    expect(bytes(read(text)), text).toBe(bytes(value));
    expect(printShell(read(text), indent)).toBe(text);
  }
});

/** A pseudorandom generator with a fixed sequence. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return state / 2147483648;
  };
}

function arbitrary(next: () => number, depth: number): unknown {
  const kind = depth > 5 ? 0 : next();
  const pick = <T>(from: readonly T[]) => from[Math.floor(next() * from.length)] as T;
  if (kind < 0.5) return pick(SINGLE);
  if (kind < 0.6) {
    const raw = new Uint8Array(8).map(() => next() * 256);
    const view = new DataView(raw.buffer);
    return next() < 0.5
      ? new Double(view.getFloat64(0) || 0)
      : Long.fromBigInt(view.getBigInt64(0));
  }
  const length = Math.floor(next() * 5);
  if (kind < 0.75) return Array.from({ length }, () => arbitrary(next, depth + 1));
  const key = () =>
    pick(['a', 'b', '$x', '$oid', '$date', '$ref2', 'k k', '-', 'ü', "'", '\\', '/*']) +
    pick(['', '', 'z']);
  return Object.fromEntries(Array.from({ length }, () => [key(), arbitrary(next, depth + 1)]));
}

test('what is printed reads as the same bytes: a thousand values', () => {
  const next = seeded(7);
  for (let round = 0; round < 1000; round += 1) {
    const value = arbitrary(next, 0);
    const text = printShell(received(value), round % 3);
    expect(bytes(read(text)), text).toBe(bytes(value));
  }
});

test.each<[string, string]>([
  ['20', '20'],
  ['20.0', '20.0'],
  ['2e1', '20.0'],
  ['.5', '0.5'],
  ['5.', '5.0'],
  ['+7', '7'],
  ['-7', '-7'],
  ['-0', '-0.0'],
  ['0x10', '16'],
  ['2147483647', '2147483647'],
  ['2147483648', 'NumberLong("2147483648")'],
  ['-9223372036854775808', 'NumberLong("-9223372036854775808")'],
  ['-Infinity', '-Infinity'],
  ['-NaN', 'NaN'],
  ['{a: \'x\', "b": 1,}', '{ a: "x", b: 1 }'],
  ['[1, 2, ]', '[1, 2]'],
  ['// c\n{/* d */ a: 1 /* e */} // f', '{ a: 1 }'],
  ['{a: 1};', '{ a: 1 }'],
  ['{1: 2}', '{ "1": 2 }'],
  ["'it\\'s \\x41\\u0042\\u{1F600}\\q'", '"it\'s AB😀q"'],
  ['new Date("2026-01-31")', 'ISODate("2026-01-31T00:00:00.000Z")'],
  ['ISODate("2026-01-31T12:00:00")', 'ISODate("2026-01-31T12:00:00.000Z")'],
  ['ISODate("2026-01-31T12:00:00+02:00")', 'ISODate("2026-01-31T10:00:00.000Z")'],
  ['ISODate("2026-01-31T23:00:00-0200")', 'ISODate("2026-02-01T01:00:00.000Z")'],
  ['new Date(0)', 'ISODate("1970-01-01T00:00:00.000Z")'],
  ['ObjectID("65a000000000000000000001")', 'ObjectId("65a000000000000000000001")'],
  ['NumberInt("5")', '5'],
  ['NumberInt(5.0)', '5'],
  ['NumberLong(5)', 'NumberLong("5")'],
  ['Long("5")', 'NumberLong("5")'],
  ['Double(5)', '5.0'],
  ['NumberDecimal("1.10")', 'NumberDecimal("1.10")'],
  ['UUID("0123E456E89B42D3A456426614174000")', 'UUID("0123e456-e89b-42d3-a456-426614174000")'],
  ['BinData(0,"AQID")', 'BinData(0, "AQID")'],
  ['HexData(0, "010203")', 'BinData(0, "AQID")'],
  ['Timestamp(1, 2)', 'Timestamp({ t: 1, i: 2 })'],
  ['Timestamp({t: 1})', 'Timestamp({ t: 1, i: 0 })'],
  ['MinKey', 'MinKey()'],
  ['new MaxKey()', 'MaxKey()'],
  ['/a\\/[/]b/i', '/a\\/[/]b/i'],
  ['RegExp("a", "i")', '/a/i'],
  ['DBRef("c", 1)', '{ $ref: "c", $id: 1 }'],
  ['undefined', 'undefined'],
  ['{"$undefined": true}', 'undefined'],
  ['{"$oid": "65a000000000000000000001"}', 'ObjectId("65a000000000000000000001")'],
  ['{$oid: "65a000000000000000000001"}', 'ObjectId("65a000000000000000000001")'],
  ['{ $date: "2026-01-31T00:00:00Z" }', 'ISODate("2026-01-31T00:00:00.000Z")'],
  ['{ a: { $date: { $numberLong: "0" } } }', '{ a: ISODate("1970-01-01T00:00:00.000Z") }'],
  ['{ ["$oid"]: "x" }', '{ ["$oid"]: "x" }'],
  ["{ [ 'a' ]: 1, b: 2 }", '{ a: 1, b: 2 }'],
  [
    '{ $date: { $numberLong: "9223372036854775807" } }',
    '{ $date: { $numberLong: "9223372036854775807" } }',
  ],
  [
    'ISODate(NumberLong("-9223372036854775808"))',
    '{ $date: { $numberLong: "-9223372036854775808" } }',
  ],
  ['{"$numberInt": "5"}', '5'],
  ['{"$numberLong": "5"}', 'NumberLong("5")'],
  ['{"$numberDouble": "-0"}', '-0.0'],
  ['{"$numberDouble": "NaN"}', 'NaN'],
  ['{"$numberDecimal": "5"}', 'NumberDecimal("5")'],
  ['{"$date": {"$numberLong": "-1"}}', 'ISODate("1969-12-31T23:59:59.999Z")'],
  ['{"$date": "2026-01-31T00:00:00Z"}', 'ISODate("2026-01-31T00:00:00.000Z")'],
  ['{"$binary": {"base64": "AQID", "subType": "80"}}', 'BinData(128, "AQID")'],
  ['{"$binary": "AQID", "$type": "00"}', 'BinData(0, "AQID")'],
  [
    '{"$uuid": "0123e456-e89b-42d3-a456-426614174000"}',
    'UUID("0123e456-e89b-42d3-a456-426614174000")',
  ],
  ['{"$regularExpression": {"pattern": "a", "options": "i"}}', '/a/i'],
  ['{"$timestamp": {"t": 1, "i": 2}}', 'Timestamp({ t: 1, i: 2 })'],
  ['{"$minKey": 1}', 'MinKey()'],
  ['{"$symbol": "s"}', 'BSONSymbol("s")'],
  ['{"$code": "x"}', 'Code("x")'],
  // Query operators stay as they are.
  ['{a: {"$regex": "x", "$options": "i"}}', '{ a: { $regex: "x", $options: "i" } }'],
  ['{"$type": 2}', '{ $type: 2 }'],
  ['{"$ref": "c", "$id": 1}', '{ $ref: "c", $id: 1 }'],
])('%s reads as %s', (text, want) => expect(printShell(read(text), 0)).toBe(want));

test.each<[string, number, RegExp]>([
  ['', 0, /missing/],
  ['  ', 2, /missing/],
  ['{a: 1', 5, /"," or "}"/],
  ['{a 1}', 3, /":"/],
  ['{a: 1 b: 2}', 6, /"," or "}"/],
  ['{a: 1, a: 2}', 7, /duplicate/],
  ['[1 2]', 3, /","/],
  ['[1,', 3, /missing/],
  ['{,}', 1, /a key/],
  ['{a: }', 4, /a value/],
  ['{a: hello}', 4, /unknown word "hello"; put strings/],
  ['{a: f()}', 4, /unknown word "f"/],
  ['process.exit()', 0, /unknown/],
  ['{a: 1}.b', 6, /unexpected/],
  ['1 + 1', 2, /unexpected/],
  ['{} {}', 3, /unexpected/],
  ['"abc', 0, /closing/],
  ['"a\nb"', 0, /closing/],
  ['"\\u12"', 1, /escape/],
  ['"\\u{110000}"', 1, /escape/],
  ['`a`', 0, /not with `/],
  ['/* x', 0, /comment/],
  ['/a', 0, /regular/],
  ['/a/g', 0, /option "g"/],
  ['12a', 0, /not a number/],
  ['9223372036854775808', 0, /64 bits/],
  ['NumberLong("9223372036854775808")', 0, /from -9223372036854775808/],
  ['NumberInt(2147483648)', 0, /from/],
  ['NumberLong(1.5)', 0, /whole/],
  ['ObjectId()', 0, /omit _id/],
  ['{a: ObjectId("xyz")}', 4, /24 hex/],
  ['ISODate("tomorrow")', 0, /not a date/],
  ['ISODate("2026-02-31")', 0, /is not a valid date/],
  ['ISODate("2026-13-01")', 0, /is not a valid date/],
  ['new Date()', 4, /takes 1 argument/],
  ['ISODate("out of range")', 0, /not a date/],
  ['{ $date: 1e300 }', 0, /a date must be/],
  ['{ $date: NaN }', 0, /out of range/],
  ['{ [a]: 1 }', 3, /in quotes/],
  ['{ ["a": 1 }', 6, /"\]"/],
  ['NumberDecimal("x")', 0, /cannot hold/],
  ['UUID("1")', 0, /32 hex/],
  ['BinData(0, "?")', 0, /base64/],
  ['BinData(300, "")', 0, /0 to 255/],
  ['Timestamp(-1, 0)', 0, /from 0/],
  ['new Foo()', 4, /unknown/],
  ['{"$oid": "x"}', 0, /24 hex/],
  ['constructor', 0, /unknown/],
  ['{a: toString()}', 4, /unknown/],
  ['{"a\\0": 1}', 1, /zero byte/],
])('%j is refused at %i', (text, at, want) => {
  const parsed = parseShell(text);
  expect(parsed).toMatchObject({ error: expect.stringMatching(want), at });
});

test('depth has a limit', () => {
  const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
  expect(parseShell(nested(100))).toHaveProperty('value');
  expect(parseShell(nested(101))).toMatchObject({
    error: expect.stringMatching(/100 levels/),
    at: 100,
  });
  expect(parseShell('{a:'.repeat(100_000))).toHaveProperty('error');
});

test('a megabyte reads without a look at all of it for each part', () => {
  const text = printShell(
    Array.from({ length: 20_000 }, (_, at) => ({
      _id: new Int32(at),
      name: `name ${at}`,
      at: new Date(at),
    })),
  );
  expect(text.length).toBeGreaterThan(1_000_000);
  expect(processorMs(() => read(text))).toBeLessThan(2000);
});

test('plain numbers print as the driver stores them', () => {
  expect(printShell([1, 1.5, 2 ** 31, -0, 5n], 0)).toBe(
    '[1, 1.5, 2147483648.0, -0.0, NumberLong("5")]',
  );
});
