// The breadth of daily work in the shell.

function numbers() {
  const documents = [];
  for (let n = 0; n < 250; n += 1)
    documents.push({ _id: n, group: n % 3, name: `n${String(n).padStart(3, '0')}` });
  db.coll.insertMany(documents);
}

test('insertMany with duplicates, ordered and not', () => {
  const documents = [{ _id: 1 }, { _id: 1 }, { _id: 2 }];
  const ordered = refused(11000, () => db.coll.insertMany(documents));
  same(
    ordered.writeErrors.map((e) => e.err.index),
    [1],
  );
  same(db.coll.distinct('_id'), [1]);
  refused(11000, () => db.coll.insertMany(documents, { ordered: false }));
  same(db.coll.distinct('_id'), [1, 2]);
});

test('bulkWrite', () => {
  const result = db.coll.bulkWrite([
    { insertOne: { document: { _id: 1, a: 1 } } },
    { updateOne: { filter: { _id: 1 }, update: { $inc: { a: 10 } } } },
    { updateOne: { filter: { _id: 3 }, update: { $set: { c: 3 } }, upsert: true } },
    { insertOne: { document: { _id: 2 } } },
    { deleteOne: { filter: { _id: 2 } } },
  ]);
  same(
    [result.insertedCount, result.modifiedCount, result.upsertedCount, result.deletedCount],
    [2, 1, 1, 1],
  );
  same(db.coll.find().sort({ _id: 1 }).toArray(), [
    { _id: 1, a: 11 },
    { _id: 3, c: 3 },
  ]);
});

test('cursors over several batches, sort, skip, limit, projection', () => {
  numbers();
  let n = 0;
  const cursor = db.coll.find().sort({ _id: 1 }).batchSize(7);
  while (cursor.hasNext()) {
    assert.equal(cursor.next()._id, n);
    n += 1;
  }
  assert.equal(n, 250);
  const found = db.coll.find({ group: 1 }, { name: 1, _id: 0 }).sort({ name: -1 }).skip(1).limit(2);
  same(found.toArray(), [{ name: 'n244' }, { name: 'n241' }]);
});

test('updateMany, findOneAndUpdate, deleteMany', () => {
  numbers();
  same(db.coll.updateMany({ group: 0 }, { $set: { seen: true } }).modifiedCount, 84);
  const after = db.coll.findOneAndUpdate(
    { _id: 5 },
    { $inc: { hits: 1 } },
    { returnDocument: 'after', projection: { hits: 1 } },
  );
  same(after, { _id: 5, hits: 1 });
  same(db.coll.deleteMany({ seen: true }).deletedCount, 84);
});

test('aggregate with $group and $lookup', () => {
  numbers();
  db.groups.insertMany([
    { _id: 0, title: 'zero' },
    { _id: 1, title: 'one' },
  ]);
  const result = db.coll.aggregate([
    { $group: { _id: '$group', n: { $sum: 1 }, top: { $max: '$name' } } },
    { $lookup: { from: 'groups', localField: '_id', foreignField: '_id', as: 'g' } },
    { $project: { n: 1, top: 1, titles: '$g.title' } },
    { $sort: { _id: 1 } },
  ]);
  same(result.toArray(), [
    { _id: 0, n: 84, top: 'n249', titles: ['zero'] },
    { _id: 1, n: 83, top: 'n247', titles: ['one'] },
    { _id: 2, n: 83, top: 'n248', titles: [] },
  ]);
});

test('an explicit session', () => {
  const session = db.getMongo().startSession();
  const coll = session.getDatabase(db.getName()).coll;
  coll.insertOne({ _id: 1 });
  same(coll.findOne({ _id: 1 }), { _id: 1 });
  session.endSession();
});

test('compression with zlib', () => {
  const compressed = Mongo(`${process.env.EBB_URI}/?compressors=zlib`).getDB(db.getName());
  const text = 'compressible '.repeat(10000);
  compressed.coll.insertMany([
    { _id: 1, text },
    { _id: 2, text },
  ]);
  assert.equal(compressed.coll.findOne({ _id: 2 }).text, text);
  same(compressed.adminCommand({ hello: 1, compression: ['zlib'] }).compression, ['zlib']);
});

test('databases and collections are listed and dropped', () => {
  db.createCollection('made');
  db.other.insertOne({});
  same(db.getCollectionNames().sort(), ['made', 'other']);
  assert.ok(db.getMongo().getDBNames().includes(db.getName()));
  assert.equal(db.made.drop(), true);
  same(
    db.getCollectionInfos().map((c) => [c.name, c.type]),
    [['other', 'collection']],
  );
  same(db.dropDatabase(), { ok: 1, dropped: db.getName() });
  same(db.getCollectionNames(), []);
  assert.ok(!db.getMongo().getDBNames().includes(db.getName()));
});

test('the ttl passes of serverStatus grow', () => {
  const passes = () => Number(db.serverStatus().metrics.ttl.passes);
  const before = passes();
  for (let tries = 0; passes() < before + 2; tries += 1) {
    assert.ok(tries < 600, 'the housekeeping does not run');
    sleep(50);
  }
});

test('the helpers people type', () => {
  numbers();
  assert.equal(db.hello().isWritablePrimary, true);
  assert.equal(db.version(), db.runCommand({ buildInfo: 1 }).version);
  assert.equal(Number(db.stats().collections), 1);
  assert.equal(db.coll.find({ _id: 7 }).explain().ok, 1);
  assert.equal(db.coll.validate().valid, true);
  assert.equal(db.getMongo().getDBs().ok, 1);
});

test('stats of a collection count live documents only', () => {
  db.coll.createIndex({ _ts: 1 }, { expireAfterSeconds: 10 });
  db.coll.insertMany([{ _id: 1 }, { _id: 2, ttl: 20 }]);
  advance(9);
  assert.equal(Number(db.coll.stats().count), 2);
  advance(1);
  const stats = db.coll.stats();
  assert.equal(Number(stats.count), 1);
  assert.equal(stats.ns, `${db.getName()}.coll`);
  assert.equal(Number(stats.nindexes), 2);
});
