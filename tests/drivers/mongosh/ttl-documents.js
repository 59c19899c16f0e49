// Documents with their own `ttl`: the examples as they are printed, the matrix, values without meaning.

// The same number of documents on every path that reads.
function assertEverywhere(n) {
  assert.equal(db.coll.find().toArray().length, n);
  assert.equal(db.coll.find({ location: 'Paris' }).itcount(), n);
  assert.equal(db.coll.countDocuments(), n);
  assert.equal(db.coll.count({ location: 'Paris' }), n);
  assert.equal(db.coll.estimatedDocumentCount(), n);
  assert.equal(db.coll.distinct('_id').length, n);
  assert.equal(db.coll.aggregate([{ $match: { location: 'Paris' } }]).toArray().length, n);
  same(db.coll.aggregate([{ $count: 'n' }]).toArray(), n > 0 ? [{ n }] : []);
  assert.equal(db.coll.findOne({ location: 'Paris' }) !== null, n > 0);
  assert.equal(Number(db.runCommand({ collStats: 'coll' }).count), n);
}

test('valid values die after 20 seconds and invalid ones after 10', () => {
  db.coll.createIndex({ _ts: 1 }, { expireAfterSeconds: 10 });
  db.coll.insert({ id: 1, location: 'Paris', ttl: 20.0 });
  db.coll.insert({ id: 1, location: 'Paris', ttl: NumberInt(20) });
  db.coll.insert({ id: 1, location: 'Paris', ttl: NumberLong(20) });
  db.coll.insert({ id: 1, location: 'Paris', ttl: 20.5 }); //TTL value contains non-zero decimal part.
  db.coll.insert({ id: 1, location: 'Paris', ttl: NumberLong(2147483649) }); //TTL value is greater than Int32.MaxValue (2,147,483,648).
  // The shell writes 20.0 as an int32; this is the double.
  db.coll.insert({ id: 1, location: 'Paris', ttl: Double(20.0) });
  const types = db.coll.aggregate([
    { $sort: { _id: 1 } },
    { $project: { _id: 0, t: { $type: '$ttl' } } },
  ]);
  same(
    types.toArray().map((d) => d.t),
    ['int', 'int', 'long', 'double', 'long', 'double'],
  );

  advance(9);
  assertEverywhere(6);
  advance(1);
  assertEverywhere(4);
  assert.equal(db.coll.findOne({ ttl: 20.5 }), null);
  assert.equal(db.coll.findOne({ ttl: NumberLong('2147483649') }), null);
  advance(9);
  assertEverywhere(4);
  advance(1);
  assertEverywhere(0);
});

for (const { default: seconds, ttl, diesAfter } of expected.matrix) {
  test(`matrix: default ${seconds ?? 'off'}, ttl ${ttl ?? 'missing'}`, () => {
    if (seconds !== null) db.coll.createIndex({ _ts: 1 }, { expireAfterSeconds: seconds });
    db.coll.insertOne({ _id: 1, location: 'Paris', ...(ttl === null ? {} : { ttl }) });
    if (diesAfter === null) {
      advance(100 * 365 * 86400);
      assertEverywhere(1);
    } else {
      advance(diesAfter - 1);
      assertEverywhere(1);
      advance(1);
      assertEverywhere(0);
    }
  });
}

test('values without meaning are stored and the default counts', () => {
  db.coll.createIndex({ _ts: 1 }, { expireAfterSeconds: 10 });
  const documents = expected.ttlWithoutMeaning.map((fields, n) => ({
    _id: n,
    location: 'Paris',
    ...fields,
  }));
  db.coll.insertMany(documents);
  advance(9);
  // The shell reads numbers as its own, so the types are asked of the server.
  const types = db.coll.aggregate([
    { $sort: { _id: 1 } },
    { $project: { _id: 0, t: { $type: '$ttl' } } },
  ]);
  same(
    types.toArray().map((d) => d.t),
    [
      'int',
      'int',
      'double',
      'double',
      'double',
      'long',
      'decimal',
      'date',
      'string',
      'null',
      'bool',
      'array',
      'missing',
      'missing',
      'missing',
    ],
  );
  assertEverywhere(documents.length);
  advance(1);
  assertEverywhere(0);
});
