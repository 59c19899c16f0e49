// Loaded before the other scripts: `test`, `refused`, `same`, and the manual clock.
globalThis.assert = require('node:assert/strict');
globalThis.passed = 0;
globalThis.failed = 0;

// One test on a fresh database, at the top of a second of the clock.
globalThis.test = (name, body) => {
  try {
    db.dropDatabase();
    const now = clock();
    if (now % 1000 !== 0)
      db.adminCommand({ ebbClock: 1, set: new Date(Math.ceil(now / 1000) * 1000) });
    body();
    passed += 1;
    print(`ok   ${name}`);
  } catch (error) {
    failed += 1;
    print(`FAIL ${name}\n${error.stack ?? error}`);
  }
};

globalThis.clock = () => db.adminCommand({ ebbClock: 1 }).now;
globalThis.advance = (seconds) => db.adminCommand({ ebbClock: 1, advanceSeconds: seconds }).now;

// Plain values compare as Extended JSON: int32, int64 and double stay different.
globalThis.same = (actual, wanted, why) =>
  assert.equal(
    EJSON.stringify(actual, { relaxed: false }),
    EJSON.stringify(wanted, { relaxed: false }),
    why,
  );

globalThis.refused = (code, write, why) => {
  let error = null;
  try {
    write();
  } catch (thrown) {
    error = thrown;
  }
  assert.notEqual(error, null, `accepted: ${why ?? write}`);
  assert.equal(error.code, code, `${why ?? write}: ${error}`);
  return error;
};

globalThis.ids = (cursor) =>
  cursor
    .toArray()
    .map((d) => d._id)
    .sort();
globalThis.expected = (() => {
  const text = require('node:fs').readFileSync(process.env.EBB_EXPECTATIONS, 'utf8');
  return { ...EJSON.parse(text, { relaxed: false }), matrix: JSON.parse(text).matrix };
})();
