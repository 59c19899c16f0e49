import { Double, Int32, Long, ObjectId } from 'bson';
import { expect, test } from 'vitest';
import { sampleFacts } from './fields';

test('types, shares, ranges, values and lengths', () => {
  const documents = [
    { _id: new ObjectId(), n: new Int32(3), tags: ['a'], at: new Date(5), a: { b: 'x' } },
    { _id: new ObjectId(), n: new Double(-0.5), tags: [], at: new Date(-1), a: { b: 'x' } },
    { _id: new ObjectId(), n: Long.fromNumber(7), tags: null, a: { b: 'y' } },
    { _id: new ObjectId(), n: 'none', n2: new Double(Number.NaN) },
  ];
  const { documents: total, fields, isCut } = sampleFacts(documents, 'mongo');
  const of = (path: string) => fields.find((field) => field.path === path);
  expect([total, isCut]).toEqual([4, false]);
  expect(fields.map(({ path }) => path)).toEqual(['_id', 'n', 'tags', 'at', 'a', 'a.b', 'n2']);
  expect(of('n')).toMatchObject({
    share: 1,
    numbers: { least: new Double(-0.5), most: Long.fromNumber(7) },
    different: 4,
  });
  expect(of('n')?.kinds).toHaveLength(4);
  expect(of('tags')).toMatchObject({
    share: 0.75,
    lengths: { least: 0, most: 1, average: 0.5 },
    top: [{ value: 'null', count: 1 }],
  });
  expect(of('at')?.dates).toEqual({ least: new Date(-1), most: new Date(5) });
  expect(of('a.b')?.top).toEqual([
    { value: '"x"', count: 2 },
    { value: '"y"', count: 1 },
  ]);
  expect(of('_id')).toMatchObject({ different: 4, numbers: null, dates: null, lengths: null });
  expect(of('n2')?.numbers).toBeNull();
});

test('an empty sample has no fields', () => {
  expect(sampleFacts([], 'nosql')).toEqual({ documents: 0, fields: [], isCut: false });
});

test('fields and values are kept up to a bound, and that is said', () => {
  const many = Array.from({ length: 2000 }, (_, at) => ({ id: `${at}`, [`k${at}`]: 1 }));
  const { fields, isCut } = sampleFacts(many, 'nosql');
  expect([fields.length, isCut]).toEqual([500, true]);
  expect(fields[0]).toMatchObject({ path: 'id', count: 2000, different: null });
  expect(fields[0]?.top).toHaveLength(10);
  expect(fields[1]).toMatchObject({ different: 1 });
});

test('a long text is told by its beginning', () => {
  const { fields } = sampleFacts([{ t: 'x'.repeat(1e6) }], 'nosql');
  expect(fields[0]?.top[0]?.value).toHaveLength(81);
});
