// Writes and lifetimes, and the reserved `_ts`.

const lively = (name, body) =>
  test(name, () => {
    db.coll.createIndex({ _ts: 1 }, { expireAfterSeconds: 10 });
    body();
  });

const writes = {
  updateOne: () => db.coll.updateOne({ _id: 1 }, { $set: { b: 2 } }),
  updateMany: () => db.coll.updateMany({ _id: 1 }, { $inc: { a: 1 } }),
  replaceOne: () => db.coll.replaceOne({ _id: 1 }, { a: 9 }),
  upsert: () => db.coll.updateOne({ _id: 1 }, { $set: { a: 5 } }, { upsert: true }),
  findAndModify: () => db.coll.findAndModify({ query: { _id: 1 }, update: { $set: { a: 3 } } }),
  findOneAndReplace: () => db.coll.findOneAndReplace({ _id: 1 }, { a: 4 }),
};

for (const name of Object.keys(writes)) {
  lively(`${name} restarts the countdown`, () => {
    db.coll.insertOne({ _id: 1, a: 1 });
    advance(9);
    writes[name]();
    advance(9);
    assert.equal(db.coll.countDocuments(), 1);
    advance(1);
    assert.equal(db.coll.countDocuments(), 0);
  });
}

lively('a write that changes nothing does not', () => {
  db.coll.insertOne({ _id: 1, a: 1 });
  advance(9);
  const result = db.coll.updateOne({ _id: 1 }, { $set: { a: 1 } });
  same([result.matchedCount, result.modifiedCount], [1, 0]);
  advance(1);
  assert.equal(db.coll.findOne(), null);
});

lively('$unset ttl and a replace without it return to the default', () => {
  db.coll.insertMany([
    { _id: 1, ttl: 100 },
    { _id: 2, ttl: -1 },
  ]);
  db.coll.updateOne({ _id: 1 }, { $unset: { ttl: '' } });
  db.coll.replaceOne({ _id: 2 }, { a: 1 });
  advance(9);
  same(db.coll.find().sort({ _id: 1 }).toArray(), [{ _id: 1 }, { _id: 2, a: 1 }]);
  advance(1);
  assert.equal(db.coll.findOne(), null);
});

lively('an upsert on a dead _id inserts', () => {
  db.coll.insertOne({ _id: 1, old: true });
  advance(10);
  const result = db.coll.updateOne({ _id: 1 }, { $set: { a: 1 } }, { upsert: true });
  same([result.matchedCount, result.upsertedCount, result.insertedId], [0, 1, 1]);
  same(db.coll.find().toArray(), [{ _id: 1, a: 1 }]);
});

lively('a unique key and an _id are free at the deadline', () => {
  db.coll.createIndex({ mail: 1 }, { unique: true });
  db.coll.insertOne({ _id: 1, mail: 'a' });
  advance(9);
  refused(11000, () => db.coll.insertOne({ _id: 2, mail: 'a' }));
  refused(11000, () => db.coll.insertOne({ _id: 1, mail: 'b' }));
  advance(1);
  db.coll.insertOne({ _id: 2, mail: 'a' });
  db.coll.insertOne({ _id: 1, mail: 'b' });
  assert.equal(db.coll.countDocuments(), 2);
});

lively('writes find nothing of the dead', () => {
  db.coll.insertOne({ _id: 1, a: 1 });
  advance(10);
  assert.equal(db.coll.findAndModify({ query: { _id: 1 }, update: { $set: { a: 2 } } }), null);
  assert.equal(db.coll.findOneAndDelete({ _id: 1 }), null);
  assert.equal(db.coll.updateMany({ a: 1 }, { $set: { a: 2 } }).matchedCount, 0);
  assert.equal(db.coll.deleteMany({}).deletedCount, 0);
});

lively('_ts is never returned, and missing to filters', () => {
  db.coll.insertOne({ _id: 1, a: 1 });
  same(db.coll.findOne({}, { _ts: 1 }), { _id: 1 });
  same(db.coll.find({ _ts: { $exists: false } }).toArray(), [{ _id: 1, a: 1 }]);
  assert.equal(db.coll.countDocuments({ _ts: { $gt: 0 } }), 0);
  same(db.coll.distinct('_ts'), []);
});

const refusals = {
  insertOne: () => db.coll.insertOne({ _id: 2, _ts: 5 }),
  insertMany: () => db.coll.insertMany([{ _id: 2, _ts: 5 }]),
  $set: () => db.coll.updateOne({ _id: 1 }, { $set: { _ts: 5 } }),
  $rename: () => db.coll.updateMany({ _id: 1 }, { $rename: { a: '_ts' } }),
  pipeline: () => db.coll.updateOne({ _id: 1 }, [{ $set: { _ts: 5 } }]),
  replaceOne: () => db.coll.replaceOne({ _id: 1 }, { _ts: 5 }),
  findAndModify: () => db.coll.findAndModify({ query: { _id: 1 }, update: { $set: { _ts: 5 } } }),
};

for (const name of Object.keys(refusals)) {
  lively(`_ts in ${name} is refused with error 2`, () => {
    db.coll.insertOne({ _id: 1, a: 1 });
    assert.match(refused(2, refusals[name], name).message, /_ts.*reserved/);
    same(db.coll.find().toArray(), [{ _id: 1, a: 1 }]);
  });
}
