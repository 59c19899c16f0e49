// Documents with their own `ttl`: the examples, the matrix, and values without meaning.
'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { Double, Int32, Long } = require('mongodb');
const { setup, ids, expected, matrix } = require('./setup');

const at = setup();

/** The same documents on every path that reads. */
async function assertEverywhere(names) {
  names = [...names].sort();
  const paris = { location: 'Paris' };
  assert.deepEqual(await ids(at.coll.find()), names);
  assert.deepEqual(await ids(at.coll.find(paris)), names);
  assert.equal(await at.coll.countDocuments(), names.length);
  assert.equal(await at.coll.countDocuments(paris), names.length);
  assert.equal(await at.coll.estimatedDocumentCount(), names.length);
  assert.deepEqual((await at.coll.distinct('_id')).sort(), names);
  assert.deepEqual(await ids(at.coll.aggregate([{ $match: paris }])), names);
  const groups = await at.coll.aggregate([{ $group: { _id: null, n: { $sum: 1 } } }]).toArray();
  assert.deepEqual(groups, names.length ? [{ _id: null, n: names.length }] : []);
  assert.equal((await at.coll.findOne(paris)) !== null, names.length > 0);
}

const valid = [
  { _id: 'double', id: 1, location: 'Paris', ttl: new Double(20.0) },
  { _id: 'int32', id: 1, location: 'Paris', ttl: new Int32(20) },
  { _id: 'int64', id: 1, location: 'Paris', ttl: Long.fromNumber(20) },
];
const invalid = [
  { _id: 'fraction', id: 1, location: 'Paris', ttl: 20.5 },
  { _id: 'too large', id: 1, location: 'Paris', ttl: Long.fromNumber(2147483649) },
];
const validNames = valid.map((d) => d._id);
const invalidNames = invalid.map((d) => d._id);

test('valid values die after 20 seconds and invalid ones after 10', async () => {
  await at.coll.createIndex({ _ts: 1 }, { expireAfterSeconds: 10 });
  await at.coll.insertMany([...valid, ...invalid]);

  await at.clock.advance(9);
  await assertEverywhere([...validNames, ...invalidNames]);
  await at.clock.advance(1);
  await assertEverywhere(validNames);
  for (const name of invalidNames) {
    assert.equal(await at.coll.findOne({ _id: name }), null);
  }
  await at.clock.advance(9);
  await assertEverywhere(validNames);
  await at.clock.advance(1);
  await assertEverywhere([]);
});

test('values keep their type', async () => {
  await at.coll.createIndex({ _ts: 1 }, { expireAfterSeconds: 10 });
  await at.coll.insertMany([...valid, ...invalid]);
  const types = await at.coll
    .aggregate([{ $sort: { _id: 1 } }, { $project: { t: { $type: '$ttl' } } }])
    .toArray();
  assert.deepEqual(types, [
    { _id: 'double', t: 'double' },
    { _id: 'fraction', t: 'double' },
    { _id: 'int32', t: 'int' },
    { _id: 'int64', t: 'long' },
    { _id: 'too large', t: 'long' },
  ]);
});

test('the deadline is exact to the millisecond', async () => {
  await at.coll.createIndex({ _ts: 1 }, { expireAfterSeconds: 10 });
  await at.coll.insertOne({ _id: 1, location: 'Paris' });
  await at.clock.advance(9.999);
  await assertEverywhere([1]);
  await at.clock.advance(0.001);
  await assertEverywhere([]);
});

test('the clock moves through the admin address too', async () => {
  const post = (body) =>
    fetch(`${process.env.EBB_ADMIN}/_ebb/clock`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  await at.coll.createIndex({ _ts: 1 }, { expireAfterSeconds: 10 });
  await at.coll.insertOne({ _id: 1, location: 'Paris' });
  await post({ advance_seconds: 9 });
  await assertEverywhere([1]);
  const answer = await post({ advance_seconds: 1 });
  assert.equal((await answer.json()).mode, 'manual');
  await assertEverywhere([]);
});

for (const { default: seconds, ttl, diesAfter } of matrix) {
  test(`matrix: default ${seconds ?? 'off'}, ttl ${ttl ?? 'missing'}`, async () => {
    if (seconds !== null) await at.coll.createIndex({ _ts: 1 }, { expireAfterSeconds: seconds });
    const document = { _id: 1, location: 'Paris', ...(ttl === null ? {} : { ttl }) };
    await at.coll.insertOne(document);
    if (diesAfter === null) {
      await at.clock.advance(100 * 365 * 86_400);
      await assertEverywhere([1]);
      assert.deepEqual(await at.coll.findOne(), document);
    } else {
      await at.clock.advance(diesAfter - 1);
      await assertEverywhere([1]);
      await at.clock.advance(1);
      await assertEverywhere([]);
    }
  });
}

test('values without meaning are stored and the default counts', async () => {
  await at.coll.createIndex({ _ts: 1 }, { expireAfterSeconds: 10 });
  const documents = expected.ttlWithoutMeaning.map((fields, n) => ({
    _id: new Int32(n),
    location: 'Paris',
    ...fields,
  }));
  await at.coll.insertMany(documents);
  await at.clock.advance(9);
  const found = await at.coll.find({}, { promoteValues: false }).sort({ _id: 1 }).toArray();
  assert.deepEqual(
    found.map((d) => Object.keys(d)),
    documents.map((d) => Object.keys(d)),
  );
  assert.deepEqual(
    found.map((d) => String(d.ttl)),
    documents.map((d) => String(d.ttl)),
  );
  await at.clock.advance(1);
  await assertEverywhere([]);
});
