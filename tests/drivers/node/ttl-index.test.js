// The TTL index on `_ts`: made, listed, changed, refused and dropped.
'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { Double, Int32, Long } = require('mongodb');
const { setup, expected } = require('./setup');

const at = setup();

const createRaw = (seconds) =>
  at.db.command({
    createIndexes: 'coll',
    indexes: [{ key: { _ts: 1 }, name: '_ts_1', expireAfterSeconds: seconds }],
  });
const change = (index) => at.db.command({ collMod: 'coll', index });

function assertSeedReply(reply) {
  assert.equal(reply._t, 'CreateIndexesResponse');
  assert.equal(reply.ok, 1);
  assert.equal(reply.createdCollectionAutomatically, true);
  assert.equal(reply.numIndexesBefore, 1);
  assert.equal(reply.numIndexesAfter, 2);
}

async function assertListed(seconds) {
  assert.deepEqual(await at.coll.listIndexes().toArray(), [
    { v: 2, key: { _id: 1 }, name: '_id_' },
    { v: 2, key: { _ts: 1 }, name: '_ts_1', expireAfterSeconds: seconds },
  ]);
}

test('createIndex helper', async () => {
  assert.equal(await at.coll.createIndex({ _ts: 1 }, { expireAfterSeconds: 10 }), '_ts_1');
  assertSeedReply(at.replies.createIndexes);
  await assertListed(10);
});

test('createIndexes helper', async () => {
  assert.deepEqual(await at.coll.createIndexes([{ key: { _ts: 1 }, expireAfterSeconds: 10 }]), [
    '_ts_1',
  ]);
  assertSeedReply(at.replies.createIndexes);
  await assertListed(10);
});

for (const [style, seconds] of [
  ['int32', new Int32(10)],
  ['int64 as Java', Long.fromNumber(10)],
  ['double as C#', new Double(10)],
]) {
  test(`raw command, ${style}`, async () => {
    assertSeedReply(await createRaw(seconds));
    await assertListed(10);
  });
}

test('-1 turns TTL on without a default', async () => {
  await at.coll.createIndex({ _ts: 1 }, { expireAfterSeconds: -1 });
  await assertListed(-1);
  await at.coll.insertMany([{ _id: 'stays' }, { _id: 'goes', ttl: 20 }]);
  await at.clock.advance(20);
  assert.deepEqual(await at.coll.distinct('_id'), ['stays']);
});

test('the same again is a no-op and another value a conflict', async () => {
  await at.coll.createIndex({ _ts: 1 }, { expireAfterSeconds: 10 });
  const again = await createRaw(10);
  assert.deepEqual([again.numIndexesBefore, again.numIndexesAfter], [2, 2]);
  await assert.rejects(at.coll.createIndex({ _ts: 1 }, { expireAfterSeconds: 11 }), { code: 85 });
  await assertListed(10);
});

test('values that mean nothing are refused', async () => {
  for (const { value } of expected.refusedExpireAfterSeconds) {
    await assert.rejects(createRaw(value), { code: 67, codeName: 'CannotCreateIndex' }, `${value}`);
  }
});

test('collMod changes the default', async () => {
  await at.coll.createIndex({ _ts: 1 }, { expireAfterSeconds: 10 });
  await at.coll.insertOne({ _id: 1 });
  const reply = await change({ keyPattern: { _ts: 1 }, expireAfterSeconds: 30 });
  assert.equal(Number(reply.expireAfterSeconds_old), 10);
  assert.equal(Number(reply.expireAfterSeconds_new), 30);
  await assertListed(30);
  await at.clock.advance(29);
  assert.deepEqual(await at.coll.findOne(), { _id: 1 });
  await at.clock.advance(1);
  assert.equal(await at.coll.findOne(), null);

  await at.coll.insertOne({ _id: 2 });
  await change({ name: '_ts_1', expireAfterSeconds: -1 });
  await assertListed(-1);
  await at.clock.advance(1_000_000);
  assert.deepEqual(await at.coll.distinct('_id'), [2]);
  await change({ name: '_ts_1', expireAfterSeconds: 5 });
  assert.equal(await at.coll.countDocuments(), 0, 'a shorter default kills at once');
});

test('collMod refuses 0, -2 and NaN', async () => {
  await at.coll.createIndex({ _ts: 1 }, { expireAfterSeconds: 10 });
  for (const seconds of [0, -2, NaN]) {
    await assert.rejects(
      change({ name: '_ts_1', expireAfterSeconds: seconds }),
      { code: 72 },
      `${seconds}`,
    );
  }
  await assertListed(10);
});

test('dropping turns TTL off and nothing comes back', async () => {
  await at.coll.createIndex({ _ts: 1 }, { expireAfterSeconds: 10 });
  await at.coll.insertMany([{ _id: 'dead' }, { _id: 'explicit', ttl: 20 }]);
  await at.clock.advance(10);
  await at.coll.insertOne({ _id: 'later' });

  await at.coll.dropIndex('_ts_1');
  assert.equal(await at.coll.indexExists('_ts_1'), false);
  await at.clock.advance(1_000_000);
  assert.deepEqual((await at.coll.distinct('_id')).sort(), ['explicit', 'later']);

  await at.coll.createIndex({ _ts: 1 }, { expireAfterSeconds: -1 });
  assert.deepEqual(await at.coll.distinct('_id'), ['later'], 'its own ttl is interpreted again');
  await change({ name: '_ts_1', expireAfterSeconds: 2_000_000 });
  assert.deepEqual(await at.coll.distinct('_id'), ['later']);
});

test('turning it on applies to documents that are there', async () => {
  await at.coll.insertOne({ _id: 'old' });
  await at.clock.advance(10);
  await at.coll.insertOne({ _id: 'young' });
  await at.coll.createIndex({ _ts: 1 }, { expireAfterSeconds: 10 });
  assert.deepEqual(await at.coll.distinct('_id'), ['young']);
});
