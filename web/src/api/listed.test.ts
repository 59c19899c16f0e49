import { Binary, calculateObjectSize, Int32, Long, ObjectId, serialize } from 'bson';
import { expect, test } from 'vitest';
import { printShell } from '../pure/shell';
import { CUT_ABOVE } from './cutting';
import { listed, listedCut } from './listed';

const bytesOf = (document: object) => Uint8Array.from(serialize(document));

test('a small document is decoded whole', () => {
  const small = { _id: new ObjectId(), n: new Int32(1), far: new Date(5) };
  const read = listed(bytesOf(small));
  expect(read.brief).toBeNull();
  expect(printShell(read.value)).toBe(printShell(small));
});

const large = {
  _id: new ObjectId(),
  text: 'ä'.repeat(100_000),
  numbers: Array.from({ length: 50_000 }, (_, at) => new Int32(at)),
  nested: { a: { deep: ['y'.repeat(50_000), 1] }, b: Long.fromNumber(7) },
  bytes: new Binary(new Uint8Array(100_000)),
  small: { a: 1, b: 'x' },
  ...Object.fromEntries(Array.from({ length: 1_000 }, (_, at) => [`f${at}`, 'z'.repeat(100)])),
  ttl: new Int32(60),
};

test('of a large document the list has the beginning of each field', () => {
  const { brief, value } = listed(bytesOf(large));
  if (brief === null) throw new Error('it is large');
  expect(calculateObjectSize(brief)).toBeLessThan(50_000);
  for (const key of ['_id', 'small', 'ttl'] as const)
    expect(printShell(brief[key])).toBe(printShell(large[key]));
  for (const key of ['text', 'numbers', 'nested'] as const)
    expect(printShell(brief[key], 0).slice(0, 150)).toBe(printShell(large[key], 0).slice(0, 150));
  expect(brief.bytes).toBe('binary data of 100000 bytes');
  expect(printShell(value)).toBe(printShell(large));
});

test.each([
  [CUT_ABOVE, false],
  [CUT_ABOVE + 1, true],
])('a document of %i bytes within a wrapper', (n, isCut) => {
  const document = { _id: new ObjectId(), d: 1, n: { far: new Date(5) } };
  const read = listedCut(bytesOf({ d: document, n: new Int32(n) }));
  expect(read).toMatchObject({ brief: null, isCut });
  expect(printShell(read.value)).toBe(printShell({ ...document, d: new Int32(1) }));
});
