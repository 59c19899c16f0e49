// MongoDB's own TTL index on a date, exact to the millisecond.
'use strict';

const assert = require('node:assert/strict');
const { beforeEach, test } = require('node:test');
const { setup, later } = require('./setup');

const at = setup();
beforeEach(() => at.coll.createIndex({ at: 1 }, { expireAfterSeconds: 5 }));

const change = (seconds) =>
  at.db.command({
    collMod: 'coll',
    index: { keyPattern: { at: 1 }, expireAfterSeconds: seconds },
  });

test('it is listed', async () => {
  const indexes = await at.coll.indexes();
  assert.deepEqual(indexes[1], { v: 2, key: { at: 1 }, name: 'at_1', expireAfterSeconds: 5 });
});

test('a document dies to the millisecond', async () => {
  await at.coll.insertOne({ _id: 1, at: later(await at.clock.now(), 250) });
  await at.clock.advance(5.249);
  assert.equal(await at.coll.countDocuments(), 1);
  assert.equal(await at.coll.estimatedDocumentCount(), 1);
  await at.clock.advance(0.001);
  assert.equal(await at.coll.countDocuments(), 0);
  assert.equal(await at.coll.estimatedDocumentCount(), 0);
  assert.equal(await at.coll.findOne({ _id: 1 }), null);
});

test('collMod changes it and nothing comes back', async () => {
  const now = await at.clock.now();
  await at.coll.insertMany([
    { _id: 1, at: now },
    { _id: 2, at: later(now, 2000) },
  ]);
  await at.clock.advance(5);
  assert.deepEqual(await at.coll.distinct('_id'), [2]);
  const reply = await change(60);
  assert.equal(Number(reply.expireAfterSeconds_old), 5);
  assert.equal(Number(reply.expireAfterSeconds_new), 60);
  assert.deepEqual(await at.coll.distinct('_id'), [2]);
  await at.clock.advance(56.999);
  assert.deepEqual(await at.coll.distinct('_id'), [2]);
  await at.clock.advance(0.001);
  assert.deepEqual(await at.coll.distinct('_id'), []);

  await at.coll.insertOne({ _id: 3, at: later(await at.clock.now(), -59_000) });
  assert.deepEqual(await at.coll.distinct('_id'), [3], 'an old date under a longer time is alive');
  await at.coll.dropIndex('at_1');
  assert.deepEqual(await at.coll.distinct('_id'), [3]);
});

test('an array counts by its earliest date', async () => {
  const now = await at.clock.now();
  await at.coll.insertOne({ _id: 1, at: [later(now, 3_600_000), true, now, 'x'] });
  await at.clock.advance(4.999);
  assert.equal(await at.coll.countDocuments(), 1);
  await at.clock.advance(0.001);
  assert.equal(await at.coll.countDocuments(), 0);
});

test('without a date a document lives', async () => {
  await at.coll.insertMany([
    { _id: 1 },
    { _id: 2, at: '2020-01-01' },
    { _id: 3, at: 5 },
    { _id: 4, at: null },
  ]);
  await at.clock.advance(1_000_000);
  assert.equal(await at.coll.countDocuments(), 4);
});

test('a plain index is converted', async () => {
  await at.coll.drop();
  await at.coll.createIndex({ at: 1 });
  const now = await at.clock.now();
  await at.coll.insertMany([
    { _id: 1, at: now },
    { _id: 2, at: later(now, 3_600_000) },
  ]);
  await at.clock.advance(5);
  assert.equal(await at.coll.countDocuments(), 2);
  const reply = await change(5);
  assert.equal('expireAfterSeconds_old' in reply, false);
  assert.deepEqual(await at.coll.distinct('_id'), [2]);
});
