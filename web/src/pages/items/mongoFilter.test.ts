import { expect, test } from 'vitest';
import { completedMongoFilter } from './mongoFilter';

test.each([
  ['', ''],
  ['  ', ''],
  ['{ a: 1 }', '{ a: 1 }'],
  ['{}', '{}'],
  ['C100743', '{ _id: "C100743" }'],
  ['order-17', '{ _id: "order-17" }'],
  ['"with space"', '{ _id: "with space" }'],
  ['80', '{ _id: 80 }'],
  ['NumberLong("5")', '{ _id: NumberLong("5") }'],
  ['6b0a447018d15cb0f58ab47d', '{ _id: ObjectId("6b0a447018d15cb0f58ab47d") }'],
  ['6B0A447018D15CB0F58AB47D', '{ _id: ObjectId("6b0a447018d15cb0f58ab47d") }'],
  ['ObjectId("6b0a447018d15cb0f58ab47d")', '{ _id: ObjectId("6b0a447018d15cb0f58ab47d") }'],
  ['status: "paid"', '{ status: "paid" }'],
  ['status: "paid", total: { $gt: 5 }', '{ status: "paid", total: { $gt: 5 } }'],
  ['"user.id": "x"', '{ "user.id": "x" }'],
  ['user.id: "x"', '{ "user.id": "x" }'],
  ['{ user.id: "x", a.b.c: 1 }', '{ "user.id": "x", "a.b.c": 1 }'],
  ['db.orders.find({status:"open"})', '{status:"open"}'],
  ['db.orders.findOne({ n: 1 });', '{ n: 1 }'],
  ['db.orders.find()', '{}'],
])('%j is %j', (typed, want) => {
  expect(completedMongoFilter(typed)).toBe(want);
  expect(completedMongoFilter(want)).toBe(want);
});

test.each([
  '{ a:',
  'db.orders.find({}).sort({ a: 1 })',
  'db.orders.drop()',
  'a b',
  '[1',
  '[]',
  '[1, 2]',
])('%j stays as it is, for its error to be told', (typed) => {
  expect(completedMongoFilter(typed)).toBe(typed);
});
