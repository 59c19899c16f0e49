// The one test on the machine's own clock; run last.

test('real clock: a ttl of one second', () => {
  const real = Mongo(process.env.EBB_SYSTEM_URI).getDB('mongosh_real_clock');
  real.coll.createIndex({ _ts: 1 }, { expireAfterSeconds: 3600 });
  real.coll.insertMany([{ _id: 1, ttl: 1 }, { _id: 2 }]);
  for (let tries = 0; real.coll.findOne({ _id: 1 }) !== null; tries += 1) {
    assert.ok(tries < 500, 'still there after ten seconds');
    sleep(20);
  }
  assert.equal(real.coll.countDocuments(), 1);
  assert.equal(real.coll.estimatedDocumentCount(), 1);
  same(real.coll.distinct('_id'), [2]);
  real.coll.insertOne({ _id: 1 });
});
