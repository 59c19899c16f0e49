// The TTL index on `_ts`: made, listed, changed, refused and dropped.

const createRaw = (seconds) =>
  db.runCommand({
    createIndexes: 'coll',
    indexes: [{ key: { _ts: 1 }, name: '_ts_1', expireAfterSeconds: seconds }],
  });

function assertSeedReply(reply) {
  assert.equal(reply._t, 'CreateIndexesResponse');
  assert.equal(reply.ok, 1);
  assert.equal(reply.createdCollectionAutomatically, true);
  assert.equal(reply.numIndexesBefore, 1);
  assert.equal(reply.numIndexesAfter, 2);
}

const assertListed = (seconds) =>
  same(db.coll.getIndexes(), [
    { v: 2, key: { _id: 1 }, name: '_id_' },
    { v: 2, key: { _ts: 1 }, name: '_ts_1', expireAfterSeconds: seconds },
  ]);

test('createIndex', () => {
  assert.equal(db.coll.createIndex({ _ts: 1 }, { expireAfterSeconds: 10 }), '_ts_1');
  assertListed(10);
});

test('createIndexes', () => {
  same(db.coll.createIndexes([{ _ts: 1 }], { expireAfterSeconds: 10 }), ['_ts_1']);
  assertListed(10);
});

for (const seconds of [NumberInt(10), NumberLong(10), Double(10)]) {
  test(`raw command, ${EJSON.stringify(seconds, { relaxed: false })}`, () => {
    assertSeedReply(createRaw(seconds));
    assertListed(10);
  });
}

test('-1 turns TTL on without a default', () => {
  db.coll.createIndex({ _ts: 1 }, { expireAfterSeconds: -1 });
  assertListed(-1);
  db.coll.insertMany([{ _id: 'stays' }, { _id: 'goes', ttl: 20 }]);
  advance(20);
  same(db.coll.distinct('_id'), ['stays']);
});

test('the same again is a no-op and another value a conflict', () => {
  db.coll.createIndex({ _ts: 1 }, { expireAfterSeconds: 10 });
  const again = createRaw(10);
  same([again.numIndexesBefore, again.numIndexesAfter], [2, 2]);
  refused(85, () => db.coll.createIndex({ _ts: 1 }, { expireAfterSeconds: 11 }));
  assertListed(10);
});

test('values that mean nothing are refused', () => {
  for (const { value } of expected.refusedExpireAfterSeconds) {
    refused(67, () => createRaw(value), String(value));
  }
});

test('collMod changes the default', () => {
  db.coll.createIndex({ _ts: 1 }, { expireAfterSeconds: 10 });
  db.coll.insertOne({ _id: 1 });
  const reply = db.runCommand({
    collMod: 'coll',
    index: { keyPattern: { _ts: 1 }, expireAfterSeconds: 30 },
  });
  same([reply.expireAfterSeconds_old, reply.expireAfterSeconds_new], [Long(10), Long(30)]);
  assertListed(30);
  advance(29);
  same(db.coll.findOne(), { _id: 1 });
  advance(1);
  assert.equal(db.coll.findOne(), null);

  db.coll.insertOne({ _id: 2 });
  db.runCommand({ collMod: 'coll', index: { name: '_ts_1', expireAfterSeconds: -1 } });
  assertListed(-1);
  advance(1000000);
  same(db.coll.distinct('_id'), [2]);
  db.runCommand({ collMod: 'coll', index: { name: '_ts_1', expireAfterSeconds: 5 } });
  assert.equal(db.coll.countDocuments(), 0, 'a shorter default kills at once');
});

test('dropping turns TTL off and nothing comes back', () => {
  db.coll.createIndex({ _ts: 1 }, { expireAfterSeconds: 10 });
  db.coll.insertMany([{ _id: 'dead' }, { _id: 'explicit', ttl: 20 }]);
  advance(10);
  db.coll.insertOne({ _id: 'later' });
  const reply = db.coll.dropIndex('_ts_1');
  same([reply.nIndexesWas, reply.ok], [2, 1]);
  advance(1000000);
  same(ids(db.coll.find()), ['explicit', 'later']);
  db.coll.createIndex({ _ts: 1 }, { expireAfterSeconds: -1 });
  same(ids(db.coll.find()), ['later'], 'its own ttl is interpreted again');
});
