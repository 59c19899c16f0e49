// MongoDB's own TTL index on a date, exact to the millisecond.

const dated = (name, body) =>
  test(name, () => {
    db.coll.createIndex({ at: 1 }, { expireAfterSeconds: 5 });
    body(clock());
  });
const later = (date, ms) => new Date(date.getTime() + ms);

dated('it is listed', () => {
  same(db.coll.getIndexes()[1], { v: 2, key: { at: 1 }, name: 'at_1', expireAfterSeconds: 5 });
});

test('an ISODate on a clock that was set', () => {
  db.coll.createIndex({ at: 1 }, { expireAfterSeconds: 5 });
  const year = clock().getUTCFullYear() + 1;
  db.coll.insertOne({ _id: 1, at: ISODate(`${year}-01-01T00:00:00.250Z`) });
  db.adminCommand({ ebbClock: 1, set: ISODate(`${year}-01-01T00:00:05.249Z`) });
  assert.equal(db.coll.countDocuments(), 1);
  assert.equal(db.coll.estimatedDocumentCount(), 1);
  db.adminCommand({ ebbClock: 1, set: ISODate(`${year}-01-01T00:00:05.250Z`) });
  assert.equal(db.coll.countDocuments(), 0);
  assert.equal(db.coll.estimatedDocumentCount(), 0);
  refused(
    20,
    () => db.adminCommand({ ebbClock: 1, set: ISODate('2001-01-01T00:00:00Z') }),
    'the clock never goes back',
  );
});

dated('collMod changes it and nothing comes back', (now) => {
  db.coll.insertMany([
    { _id: 1, at: now },
    { _id: 2, at: later(now, 2000) },
  ]);
  advance(5);
  same(db.coll.distinct('_id'), [2]);
  db.runCommand({ collMod: 'coll', index: { keyPattern: { at: 1 }, expireAfterSeconds: 60 } });
  same(db.coll.distinct('_id'), [2]);
  advance(56.999);
  same(db.coll.distinct('_id'), [2]);
  advance(0.001);
  same(db.coll.distinct('_id'), []);
  db.coll.insertOne({ _id: 3, at: later(clock(), -59000) });
  same(db.coll.distinct('_id'), [3], 'an old date under a longer time is alive');
});

dated('an array counts by its earliest date', (now) => {
  db.coll.insertOne({ _id: 1, at: [later(now, 3600000), true, now, 'x'] });
  advance(4.999);
  assert.equal(db.coll.countDocuments(), 1);
  advance(0.001);
  assert.equal(db.coll.countDocuments(), 0);
});

dated('without a date a document lives', () => {
  db.coll.insertMany([
    { _id: 1 },
    { _id: 2, at: '2020-01-01' },
    { _id: 3, at: 5 },
    { _id: 4, at: null },
  ]);
  advance(1000000);
  assert.equal(db.coll.countDocuments(), 4);
});
