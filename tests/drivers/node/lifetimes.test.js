// Writes and lifetimes: what restarts the countdown, and what a dead document gives free.
'use strict';

const assert = require('node:assert/strict');
const { beforeEach, test } = require('node:test');
const { setup } = require('./setup');

const at = setup();
beforeEach(() => at.coll.createIndex({ _ts: 1 }, { expireAfterSeconds: 10 }));

const writes = {
  updateOne: (c) => c.updateOne({ _id: 1 }, { $set: { b: 2 } }),
  'updateMany with $inc': (c) => c.updateMany({ _id: 1 }, { $inc: { a: 1 } }),
  replaceOne: (c) => c.replaceOne({ _id: 1 }, { a: 9 }),
  upsert: (c) => c.updateOne({ _id: 1 }, { $set: { a: 5 } }, { upsert: true }),
  'a pipeline': (c) => c.updateOne({ _id: 1 }, [{ $set: { a: { $add: ['$a', 1] } } }]),
  findOneAndUpdate: (c) => c.findOneAndUpdate({ _id: 1 }, { $set: { a: 3 } }),
  findOneAndReplace: (c) => c.findOneAndReplace({ _id: 1 }, { a: 4 }),
};

for (const [name, write] of Object.entries(writes)) {
  test(`${name} restarts the countdown`, async () => {
    await at.coll.createIndex({ a: 1 });
    await at.coll.insertOne({ _id: 1, a: 1 });
    await at.clock.advance(9);
    await write(at.coll);
    await at.clock.advance(9);
    assert.equal(await at.coll.countDocuments({ _id: 1 }), 1);
    assert.equal(await at.coll.countDocuments({ a: { $gt: 0 } }), 1, 'through the index as well');
    await at.clock.advance(1);
    assert.equal(await at.coll.countDocuments(), 0);
  });
}

test('a write that changes nothing does not', async () => {
  await at.coll.insertOne({ _id: 1, a: 1 });
  await at.clock.advance(9);
  const result = await at.coll.updateOne({ _id: 1 }, { $set: { a: 1 } });
  assert.deepEqual([result.matchedCount, result.modifiedCount], [1, 0]);
  await at.clock.advance(1);
  assert.equal(await at.coll.findOne(), null);
});

test('setting ttl changes the deadline and $unset returns to the default', async () => {
  await at.coll.insertOne({ _id: 1 });
  await at.coll.updateOne({ _id: 1 }, { $set: { ttl: 100 } });
  await at.clock.advance(99);
  assert.deepEqual(await at.coll.findOne(), { _id: 1, ttl: 100 });
  await at.coll.updateOne({ _id: 1 }, { $set: { ttl: -1 } });
  await at.clock.advance(1_000_000);
  assert.deepEqual(await at.coll.findOne(), { _id: 1, ttl: -1 });
  await at.coll.updateOne({ _id: 1 }, { $unset: { ttl: '' } });
  await at.clock.advance(9);
  assert.deepEqual(await at.coll.findOne(), { _id: 1 });
  await at.clock.advance(1);
  assert.equal(await at.coll.findOne(), null);
});

test('replacing without ttl returns to the default', async () => {
  await at.coll.insertOne({ _id: 1, ttl: 100 });
  await at.coll.replaceOne({ _id: 1 }, { a: 1 });
  await at.clock.advance(9);
  assert.deepEqual(await at.coll.findOne(), { _id: 1, a: 1 });
  await at.clock.advance(1);
  assert.equal(await at.coll.findOne(), null);
});

test('an upsert on a dead _id inserts', async () => {
  await at.coll.insertOne({ _id: 1, old: true });
  await at.clock.advance(10);
  const result = await at.coll.updateOne({ _id: 1 }, { $set: { a: 1 } }, { upsert: true });
  assert.deepEqual([result.matchedCount, result.upsertedCount, result.upsertedId], [0, 1, 1]);
  assert.deepEqual(await at.coll.find().toArray(), [{ _id: 1, a: 1 }]);
});

test('an insert on a dead _id is a new document', async () => {
  await at.coll.insertOne({ _id: 1, old: true });
  await at.clock.advance(9);
  await assert.rejects(at.coll.insertOne({ _id: 1 }), { code: 11000 });
  await at.clock.advance(1);
  await at.coll.insertOne({ _id: 1, new: true });
  assert.deepEqual(await at.coll.find().toArray(), [{ _id: 1, new: true }]);
  assert.equal(await at.coll.estimatedDocumentCount(), 1);
});

test('a unique key is free at the deadline', async () => {
  await at.coll.createIndex({ mail: 1 }, { unique: true });
  await at.coll.insertOne({ _id: 1, mail: 'a@example.org' });
  await at.clock.advance(9);
  await assert.rejects(at.coll.insertOne({ _id: 2, mail: 'a@example.org' }), { code: 11000 });
  await at.clock.advance(1);
  await at.coll.insertOne({ _id: 2, mail: 'a@example.org' });
  assert.equal((await at.coll.findOne({ mail: 'a@example.org' }))._id, 2);
});

test('writes find nothing of the dead', async () => {
  await at.coll.insertOne({ _id: 1, a: 1 });
  await at.clock.advance(10);
  assert.equal(await at.coll.findOneAndUpdate({ _id: 1 }, { $set: { a: 2 } }), null);
  assert.equal(await at.coll.findOneAndReplace({ _id: 1 }, { a: 2 }), null);
  assert.equal(await at.coll.findOneAndDelete({ _id: 1 }), null);
  assert.equal((await at.coll.updateOne({ _id: 1 }, { $set: { a: 2 } })).matchedCount, 0);
  assert.equal((await at.coll.updateMany({ a: 1 }, { $set: { a: 2 } })).matchedCount, 0);
  assert.equal((await at.coll.replaceOne({ _id: 1 }, { a: 2 })).matchedCount, 0);
  assert.equal((await at.coll.deleteOne({ _id: 1 })).deletedCount, 0);
  assert.equal((await at.coll.deleteMany({})).deletedCount, 0);
});

test('findOneAndUpdate with upsert starts anew', async () => {
  await at.coll.insertOne({ _id: 1, n: 41 });
  await at.clock.advance(10);
  const found = await at.coll.findOneAndUpdate(
    { _id: 1 },
    { $inc: { n: 1 } },
    { upsert: true, returnDocument: 'after' },
  );
  assert.deepEqual(found, { _id: 1, n: 1 });
});

test('an open cursor stops at the deadline', async () => {
  await at.coll.insertMany([...Array(10).keys()].map((n) => ({ _id: n })));
  const cursor = at.coll.find().sort({ _id: 1 }).batchSize(3);
  for (const n of [0, 1, 2]) assert.equal((await cursor.next())._id, n);
  await at.clock.advance(10);
  assert.deepEqual(await cursor.toArray(), []);
});
