// The breadth of daily work through this driver.
'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { MongoClient } = require('mongodb');
const { setup } = require('./setup');

const at = setup();

const numbers = () =>
  at.coll.insertMany(
    [...Array(250).keys()].map((n) => ({
      _id: n,
      group: n % 3,
      name: `n${String(n).padStart(3, '0')}`,
    })),
  );

test('insertMany ordered stops at a duplicate', async () => {
  await assert.rejects(
    at.coll.insertMany([{ _id: 1 }, { _id: 2 }, { _id: 1 }, { _id: 3 }]),
    (error) => {
      assert.equal(error.code, 11000);
      assert.equal(error.result.insertedCount, 2);
      assert.deepEqual(
        error.writeErrors.map((e) => [e.index, e.code]),
        [[2, 11000]],
      );
      return true;
    },
  );
  assert.deepEqual(await at.coll.distinct('_id'), [1, 2]);
});

test('insertMany unordered goes on', async () => {
  const documents = [{ _id: 1 }, { _id: 1 }, { _id: 2 }, { _id: 2 }, { _id: 3 }];
  await assert.rejects(at.coll.insertMany(documents, { ordered: false }), (error) => {
    assert.equal(error.result.insertedCount, 3);
    assert.deepEqual(
      error.writeErrors.map((e) => e.index),
      [1, 3],
    );
    return true;
  });
  assert.deepEqual(await at.coll.distinct('_id'), [1, 2, 3]);
});

test('insertOne names the duplicate key', async () => {
  await at.coll.createIndex({ mail: 1 }, { unique: true });
  await at.coll.insertOne({ mail: 'a' });
  await assert.rejects(at.coll.insertOne({ mail: 'a' }), {
    name: 'MongoServerError',
    code: 11000,
    keyPattern: { mail: 1 },
    keyValue: { mail: 'a' },
    message: /E11000 duplicate key/,
  });
});

test('bulkWrite', async () => {
  const result = await at.coll.bulkWrite([
    { insertOne: { document: { _id: 1, a: 1 } } },
    { insertOne: { document: { _id: 2, a: 2 } } },
    { updateOne: { filter: { _id: 1 }, update: { $inc: { a: 10 } } } },
    { replaceOne: { filter: { _id: 2 }, replacement: { b: 2 } } },
    { updateOne: { filter: { _id: 3 }, update: { $set: { c: 3 } }, upsert: true } },
    { deleteOne: { filter: { _id: 2 } } },
  ]);
  assert.deepEqual([result.insertedCount, result.modifiedCount, result.deletedCount], [2, 2, 1]);
  assert.deepEqual(result.upsertedIds, { 4: 3 });
  assert.deepEqual(await at.coll.find().sort({ _id: 1 }).toArray(), [
    { _id: 1, a: 11 },
    { _id: 3, c: 3 },
  ]);
});

test('a cursor over several batches', async () => {
  await numbers();
  const seen = [];
  for await (const document of at.coll.find().sort({ _id: 1 }).batchSize(7))
    seen.push(document._id);
  assert.deepEqual(seen, [...Array(250).keys()]);
  assert.equal((await at.coll.find().batchSize(2).limit(5).toArray()).length, 5);
  assert.equal((await at.coll.aggregate([{ $match: {} }], { batchSize: 7 }).toArray()).length, 250);
  const left = at.coll.find().batchSize(2);
  await left.next();
  await left.close();
});

test('sort, skip, limit and projection', async () => {
  await numbers();
  const find = () =>
    at.coll
      .find({ group: 1 })
      .project({ name: 1, _id: 0 })
      .sort({ name: -1 })
      .skip(1)
      .limit(2)
      .toArray();
  assert.deepEqual(await find(), [{ name: 'n244' }, { name: 'n241' }]);
  await at.coll.createIndex({ group: 1, name: -1 });
  assert.deepEqual(await find(), [{ name: 'n244' }, { name: 'n241' }]);
});

test('updateMany and deleteMany', async () => {
  await numbers();
  const result = await at.coll.updateMany(
    { group: 0 },
    { $set: { seen: true }, $push: { tags: 'x' } },
  );
  assert.deepEqual([result.matchedCount, result.modifiedCount], [84, 84]);
  assert.equal(await at.coll.countDocuments({ seen: true, tags: 'x' }), 84);
  assert.equal((await at.coll.deleteMany({ group: { $in: [1, 2] } })).deletedCount, 166);
});

test('findOneAndUpdate', async () => {
  await numbers();
  const before = await at.coll.findOneAndUpdate({ _id: 5 }, { $set: { name: 'five' } });
  assert.equal(before.name, 'n005');
  const after = await at.coll.findOneAndUpdate(
    { group: 2 },
    { $inc: { hits: 1 } },
    {
      sort: { _id: -1 },
      projection: { hits: 1 },
      returnDocument: 'after',
    },
  );
  assert.deepEqual(after, { _id: 248, hits: 1 });
});

test('aggregate with $group and $lookup', async () => {
  await numbers();
  await at.db.collection('groups').insertMany([
    { _id: 0, title: 'zero' },
    { _id: 1, title: 'one' },
  ]);
  const result = await at.coll
    .aggregate([
      {
        $group: { _id: '$group', n: { $sum: 1 }, first: { $min: '$_id' }, top: { $max: '$name' } },
      },
      { $lookup: { from: 'groups', localField: '_id', foreignField: '_id', as: 'g' } },
      { $set: { title: { $ifNull: [{ $first: '$g.title' }, 'none'] } } },
      { $unset: 'g' },
      { $sort: { _id: 1 } },
    ])
    .toArray();
  assert.deepEqual(result, [
    { _id: 0, n: 84, first: 0, top: 'n249', title: 'zero' },
    { _id: 1, n: 83, first: 1, top: 'n247', title: 'one' },
    { _id: 2, n: 83, first: 2, top: 'n248', title: 'none' },
  ]);
});

test('counts and distinct', async () => {
  await numbers();
  assert.equal(await at.coll.estimatedDocumentCount(), 250);
  assert.equal(await at.coll.countDocuments({ _id: { $gte: 200 } }), 50);
  assert.deepEqual((await at.coll.distinct('group', { _id: { $lt: 2 } })).sort(), [0, 1]);
});

test('an explicit session', async () => {
  await at.client.withSession(async (session) => {
    await at.coll.insertOne({ _id: 1 }, { session });
    assert.deepEqual(await at.coll.findOne({ _id: 1 }, { session }), { _id: 1 });
  });
});

for (const compressor of ['zlib', 'snappy']) {
  test(`compression with ${compressor}`, async () => {
    const text = 'compressible '.repeat(10_000);
    const client = new MongoClient(`${at.uri}/?compressors=${compressor}`);
    try {
      const compressed = client.db('node').collection('coll');
      await compressed.insertMany([...Array(20).keys()].map((n) => ({ _id: n, text })));
      for await (const document of compressed.find().batchSize(3))
        assert.equal(document.text, text);
      const hello = await client.db('admin').command({ hello: 1, compression: [compressor] });
      assert.deepEqual(hello.compression, [compressor]);
    } finally {
      await client.close();
    }
    assert.equal(await at.coll.countDocuments(), 20);
  });
}

test('databases and collections are listed and dropped', async () => {
  const names = async () => (await at.db.listCollections().toArray()).map((c) => c.name).sort();
  const databases = async () =>
    (await at.client.db().admin().listDatabases()).databases.map((d) => d.name);
  await at.db.createCollection('made');
  await at.db.collection('other').insertOne({});
  assert.deepEqual(await names(), ['made', 'other']);
  assert.ok((await databases()).includes('node'));
  await at.db.dropCollection('made');
  assert.deepEqual(await names(), ['other']);
  await at.db.dropDatabase();
  assert.deepEqual(await names(), []);
  assert.ok(!(await databases()).includes('node'));
});

test('the ttl passes of serverStatus grow', { timeout: 30_000 }, async () => {
  const passes = async () => Number((await at.db.admin().serverStatus()).metrics.ttl.passes);
  const before = await passes();
  while ((await passes()) < before + 2) await new Promise((done) => setTimeout(done, 50));
});
