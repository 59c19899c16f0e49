// Azure Cosmos DB's own commands, in the order in which its tutorials send them: a collection with a
// shard key and throughput, documents, and the charge of an operation.
'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { MongoBulkWriteError } = require('mongodb');
const { setup, refused } = require('./setup');

const at = setup();

/** Runs an action; returns the reply without the times that every reply has. */
async function action(name, more = {}) {
  const reply = await at.db.command({ customAction: name, ...more });
  const { $clusterTime, operationTime, ...rest } = reply;
  assert.ok($clusterTime.clusterTime.equals(operationTime));
  return rest;
}

/** Returns the charge of the last operation of a session. */
async function charge(session) {
  const reply = await at.db.command({ getLastRequestStatistics: 1 }, { session });
  assert.equal(reply._t, 'GetRequestStatisticsResponse');
  assert.equal(typeof reply.RequestDurationInMilliSeconds, 'number');
  return [reply.CommandName, reply.RequestCharge];
}

test('a collection with a shard key, throughput and a default of time to live', async () => {
  assert.deepEqual(await action('CreateDatabase', { offerThroughput: 1000 }), { ok: 1 });
  const made = await action('CreateCollection', {
    collection: 'coll',
    offerThroughput: 400,
    shardKey: 'university',
    indexes: [
      { key: { _id: 1 }, name: '_id_1' },
      { key: { name: 1 }, name: 'by_name' },
    ],
    defaultTtl: 60,
  });
  assert.deepEqual(made, { ok: 1 });
  const { indexes, ...shown } = await action('GetCollection', {
    collection: 'coll',
    showIndexes: true,
  });
  assert.deepEqual(shown, {
    database: at.db.databaseName,
    collection: 'coll',
    shardKeyDefinition: { university: 'hashed' },
    provisionedThroughput: 400,
    defaultTtl: 60,
    ok: 1,
  });
  assert.deepEqual(
    indexes.map((index) => index.name),
    ['_id_', 'by_name', '_ts_1'],
  );
  await at.client.withSession(async (session) => {
    await at.coll.insertOne({ _id: 1, university: 'a', name: 'n' }, { session });
    assert.deepEqual(await charge(session), ['insert', 5]);
    assert.equal((await at.coll.findOne({ _id: 1 }, { session })).name, 'n');
    assert.deepEqual(await charge(session), ['find', 1]);
  });
  await at.clock.advance(59);
  assert.equal(await at.coll.countDocuments(), 1);
  await at.clock.advance(1);
  assert.equal(await at.coll.countDocuments(), 0);
});

test('throughput is changed, and scales itself', async () => {
  await action('CreateCollection', { collection: 'coll', offerThroughput: 400 });
  await action('UpdateCollection', { collection: 'coll', offerThroughput: 1200 });
  assert.equal((await action('GetCollection', { collection: 'coll' })).provisionedThroughput, 1200);
  const scaled = { maxThroughput: 4000 };
  await action('UpdateCollection', { collection: 'coll', autoScaleSettings: scaled });
  const shown = await action('GetCollection', { collection: 'coll' });
  assert.deepEqual([shown.provisionedThroughput, shown.autoScaleSettings], [400, scaled]);
});

test('collections are sharded', async () => {
  const admin = at.client.db('admin');
  await admin.command({ enableSharding: at.db.databaseName });
  const namespace = `${at.db.databaseName}.coll`;
  const shard = { shardCollection: namespace, key: { university: 'hashed' } };
  for (const db of [at.db, admin]) {
    const reply = await db.command(shard);
    assert.equal(reply._t, 'ShardCollectionResponse');
    assert.equal(reply.collectionsharded, namespace);
  }
  await at.db.createCollection('made', { shardKey: 'a.b' });
  const shown = await action('GetCollection', { collection: 'made' });
  assert.deepEqual(shown.shardKeyDefinition, { 'a.b': 'hashed' });
});

test('wrong arguments are refused and change nothing', async () => {
  const small = { collection: 'coll', offerThroughput: 399 };
  await assert.rejects(action('CreateCollection', small), refused(2));
  await assert.rejects(action('GetCollection', { collection: 'coll' }), refused(26));
  await assert.rejects(action('Nothing'), refused(59));
  assert.deepEqual(await at.db.listCollections().toArray(), []);
});

test('an error of throughput names the time to wait', async () => {
  // A server that does not enforce throughput accepts all documents.
  await action('CreateCollection', { collection: 'coll', offerThroughput: 400 });
  const documents = [...Array(1000).keys()].map((n) => ({ _id: n }));
  try {
    assert.equal((await at.coll.insertMany(documents)).insertedCount, 1000);
  } catch (error) {
    if (!(error instanceof MongoBulkWriteError)) throw error;
    assert.equal(error.code, 16500);
    assert.match(error.writeErrors[0].errmsg, /RetryAfterMs=\d+,/);
  }
});
