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
} from 'bson';
import { expect, test } from 'vitest';
import { dateOf, FarDate } from '../pure/farDate';
import { readFarDates, writeFarDates } from './farDates';

const KEEP = { promoteValues: false, promoteBuffers: false, bsonRegExp: true } as const;
const [MOST, LEAST] = [2n ** 63n - 1n, -(2n ** 63n)];

/** Encodes a document and decodes it again. */
function there(document: Record<string, unknown>) {
  const bytes = Uint8Array.from(serialize(document));
  writeFarDates(bytes, document);
  const back = deserialize(bytes, KEEP);
  readFarDates(bytes, back);
  return { bytes, back };
}

const others = () => ({
  double: new Double(1.5),
  text: 'ü\u0000x',
  deep: { list: [new Int32(1), { x: null }] },
  bytes: new Binary(new Uint8Array([1, 0, 9]), 0),
  old: new Binary(new Uint8Array([1, 2]), 2),
  id: new ObjectId(),
  yes: true,
  pattern: new BSONRegExp('a.b', 'i'),
  code: new Code('x'),
  scoped: new Code('x', { a: new Date(5) }),
  symbol: new BSONSymbol('s'),
  time: new Timestamp({ t: 1, i: 2 }),
  long: Long.fromNumber(7),
  decimal: Decimal128.fromString('1.5'),
  least: new MinKey(),
  most: new MaxKey(),
  ref: new DBRef('c', new ObjectId()),
});

test.each([MOST, LEAST, 8_640_000_000_000_001n, 2n ** 53n + 1n])('%s ms are kept', (ms) => {
  const { back } = there({ ...others(), at: [{ a: dateOf(ms) }], __proto: 1, last: dateOf(ms) });
  expect(back.last).toBeInstanceOf(FarDate);
  expect((back.last as FarDate).ms).toBe(ms);
  expect((back.at as { a: FarDate }[])[0]?.a.ms).toBe(ms);
});

test('all else stays as it is', () => {
  const document = { ...others(), near: new Date(8.64e15), at: dateOf(MOST), early: new Date(0) };
  const { bytes, back } = there(document);
  expect(back.near).toEqual(new Date(8.64e15));
  expect(back.early).toEqual(new Date(0));
  const { at: _, ...rest } = document;
  const { at: __, ...restBack } = back;
  expect(serialize(restBack)).toEqual(serialize(rest));
  expect(bytes.length).toBe(serialize(document).length);
});

test('where it would become another date it is not written', () => {
  const document = { ref: new DBRef('c', new ObjectId(), undefined, { at: dateOf(MOST) }) };
  const scope = { code: new Code('x', { at: dateOf(MOST) }) };
  expect(() => there(document)).toThrow(/out of range/);
  expect(() => there(scope)).toThrow(/out of range/);
});
