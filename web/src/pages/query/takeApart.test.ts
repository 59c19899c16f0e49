import { expect, test } from 'vitest';
import { isCall } from '../../pure/shell/call';
import type { MongoForm } from './command';
import { EMPTY } from './command';
import { takeApart } from './takeApart';

function apart(text: string) {
  const found = takeApart(text);
  if ('error' in found) throw new Error(`${found.error} at ${found.at}`);
  return found;
}

test.each<[string, Partial<MongoForm>]>([
  ['db.c.find()', {}],
  ['db.c.find({ a: 1 /* one */ });', { filter: '{ a: 1 /* one */ }' }],
  ['db.c.find(null, {a: 1})', { projection: '{a: 1}' }],
  [
    'db.c\n  .find({ at: ISODate("2026-01-01") }, { _id: 0 })\n  .sort({ at: -1 }) // newest\n  .limit(10)\n  .skip(5)\n  .toArray()',
    {
      filter: '{ at: ISODate("2026-01-01") }',
      projection: '{ _id: 0 }',
      sort: '{ at: -1 }',
      limit: '10',
      skip: '5',
    },
  ],
  ['db.c.findOne({ a: ")" })', { filter: '{ a: ")" }', limit: '1' }],
  ['db.c.find().projection({ a: 1 }).pretty()', { projection: '{ a: 1 }' }],
])('%s is a find', (text, fields) => {
  expect(isCall(text)).toBe(true);
  expect(apart(text)).toMatchObject({
    collection: 'c',
    database: null,
    form: { ...EMPTY, mode: 'filter', ...fields },
  });
});

test.each<[string, string]>([
  ['db.c.aggregate([ { $match: {} } /* all */ ])', '[ { $match: {} } /* all */ ]'],
  ['db.c.aggregate({ $limit: 1 }, { $skip: 1 })', '[\n  { $limit: 1 },\n  { $skip: 1 }\n]'],
  ['db.c.aggregate()', '[]'],
  ['db.c.countDocuments({ a: 1 })', '[\n  { $match: { a: 1 } },\n  { $count: "count" }\n]'],
  ['db.c.countDocuments({})', '[\n  { $count: "count" }\n]'],
  ['db.c.estimatedDocumentCount()', '[\n  { $count: "count" }\n]'],
  ['db.c.find({ a: 1 }).limit(5).count()', '[\n  { $match: { a: 1 } },\n  { $count: "count" }\n]'],
  [
    'db.c.find().skip(1).limit(5).size()',
    '[\n  { $skip: 1 },\n  { $limit: 5 },\n  { $count: "count" }\n]',
  ],
  [
    'db.c.distinct("a.b", { n: 1 })',
    '[\n  { $match: { n: 1 } },\n  { $unwind: { path: "$a.b", preserveNullAndEmptyArrays: true } },\n  { $match: { "a.b": { $exists: true } } },\n  { $group: { _id: "$a.b" } }\n]',
  ],
])('%s is a pipeline', (text, pipeline) => {
  expect(apart(text).form).toEqual({ ...EMPTY, mode: 'pipeline', pipeline });
});

test.each<[string, string | null, string]>([
  ['db.getCollection("my-orders").find()', null, 'my-orders'],
  ["db['my.orders'].find()", null, 'my.orders'],
  ['db.system.views.find()', null, 'system.views'],
  ['db.getSiblingDB("shop").orders.find()', 'shop', 'orders'],
  ["db.getSiblingDB('shop').getCollection('o').find()", 'shop', 'o'],
  ['// mine\n db . c . find ( )', null, 'c'],
])('%s names its collection', (text, database, collection) => {
  expect(apart(text)).toMatchObject({ database, collection });
});

test('a sentence says what was done, and what was left out', () => {
  expect(apart('db.c.find({}).sort({a: 1}).limit(1)').said).toBe(
    'Converted the shell command: filter, sort and limit.',
  );
  expect(apart('db.c.aggregate([], { allowDiskUse: true })').said).toBe(
    'Converted the shell command to a pipeline. Its options are ignored.',
  );
});

test.each<[string, RegExp, number]>([
  [
    'db.c.remove({})',
    /^unknown method "remove" of a collection; supported: find, .* and distinct\.$/,
    5,
  ],
  [
    'db.c.find().hint("a")',
    /^unknown method "hint" after find; supported: sort, .* and pretty\.$/,
    12,
  ],
  [
    'db.c.aggregate([]).sort({a: 1})',
    /^unknown method "sort" here; supported: toArray and pretty\.$/,
    19,
  ],
  ['db.stats()', /^unknown method "stats" of a database; supported: getCollection/, 3],
  ['db.c.find("a")', /^find expects a document/, 10],
  ['db.c.find().limit(-5)', /^limit expects one whole number/, 18],
  ['db.c.find().limit(1.5)', /^limit expects one whole number/, 18],
  ['db.c.distinct({})', /^distinct expects a field name/, 14],
  ['db.c.find({a: })', /^expected a value/, 14],
  ['db.c.find({})\ndb.c.find({})', /^unexpected .* after the command/, 14],
  ['db.c.find({}', /^expected "," or "\)"/, 12],
  ['db.c', /but found the end/, 4],
])('%s is refused', (text, error, at) => {
  const found = takeApart(text);
  expect(found).toMatchObject({ at });
  expect('error' in found ? found.error : '').toMatch(error);
});

test.each(['{ db: 1 }', '{}', 'db', 'dbx.find()', '[{ $match: {} }]'])('%s is no line', (text) =>
  expect(isCall(text)).toBe(false),
);
