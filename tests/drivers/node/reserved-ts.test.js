// `_ts` belongs to the server: never returned, never accepted, missing to every filter.
'use strict';

const assert = require('node:assert/strict');
const { beforeEach, test } = require('node:test');
const { setup } = require('./setup');

const at = setup();
beforeEach(async () => {
  await at.coll.createIndex({ _ts: 1 }, { expireAfterSeconds: 10 });
  await at.coll.insertOne({ _id: 1, a: 1 });
});

test('it is never returned', async () => {
  assert.deepEqual(await at.coll.findOne(), { _id: 1, a: 1 });
  assert.deepEqual(await at.coll.findOne({}, { projection: { _ts: 1 } }), { _id: 1 });
  const projected = await at.coll.aggregate([{ $project: { t: '$_ts', r: '$$ROOT' } }]).toArray();
  assert.deepEqual(projected, [{ _id: 1, r: { _id: 1, a: 1 } }]);
  assert.deepEqual(await at.coll.distinct('_ts'), []);
});

test('filters see it as missing', async () => {
  assert.equal(await at.coll.countDocuments({ _ts: { $exists: true } }), 0);
  assert.equal(await at.coll.countDocuments({ _ts: { $exists: false } }), 1);
  assert.equal(await at.coll.countDocuments({ _ts: null }), 1);
  assert.equal(await at.coll.countDocuments({ _ts: { $gt: 0 } }), 0);
});

const refused = {
  insertOne: (c) => c.insertOne({ _id: 2, _ts: 5 }),
  insertMany: (c) => c.insertMany([{ _id: 2, _ts: 5 }]),
  bulkWrite: (c) => c.bulkWrite([{ insertOne: { document: { _id: 2, _ts: 5 } } }]),
  $set: (c) => c.updateOne({ _id: 1 }, { $set: { _ts: 5 } }),
  $inc: (c) => c.updateMany({ _id: 1 }, { $inc: { _ts: 5 } }),
  $rename: (c) => c.updateOne({ _id: 1 }, { $rename: { a: '_ts' } }),
  $currentDate: (c) => c.updateOne({ _id: 1 }, { $currentDate: { _ts: true } }),
  $setOnInsert: (c) => c.updateOne({ _id: 9 }, { $setOnInsert: { _ts: 5 } }, { upsert: true }),
  'a pipeline': (c) => c.updateOne({ _id: 1 }, [{ $set: { _ts: 5 } }]),
  replaceOne: (c) => c.replaceOne({ _id: 1 }, { _ts: 5 }),
  findOneAndUpdate: (c) => c.findOneAndUpdate({ _id: 1 }, { $set: { _ts: 5 } }),
  findOneAndReplace: (c) => c.findOneAndReplace({ _id: 1 }, { _ts: 5 }),
};

for (const [name, write] of Object.entries(refused)) {
  test(`${name} is refused with error 2`, async () => {
    await assert.rejects(write(at.coll), { code: 2, message: /_ts.*reserved/ });
    assert.deepEqual(await at.coll.find().toArray(), [{ _id: 1, a: 1 }]);
  });
}
