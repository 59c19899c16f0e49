// The one test on the machine's own clock, against a server of its own.
'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { MongoClient } = require('mongodb');

test('real clock: a ttl of one second', { timeout: 10_000 }, async () => {
  const client = await new MongoClient(process.env.EBB_SYSTEM_URI).connect();
  try {
    const coll = client.db('node_real_clock').collection('coll');
    await coll.createIndex({ _ts: 1 }, { expireAfterSeconds: 3600 });
    await coll.insertMany([{ _id: 1, ttl: 1 }, { _id: 2 }]);
    while ((await coll.findOne({ _id: 1 })) !== null)
      await new Promise((done) => setTimeout(done, 20));
    assert.equal(await coll.countDocuments(), 1);
    assert.equal(await coll.estimatedDocumentCount(), 1);
    assert.deepEqual(await coll.distinct('_id'), [2]);
    await coll.insertOne({ _id: 1 });
  } finally {
    await client.close();
  }
});
