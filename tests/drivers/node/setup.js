// One client per test file, a fresh database per test, and the manual clock.
'use strict';

const assert = require('node:assert/strict');
const { readFileSync } = require('node:fs');
const { after, before, beforeEach } = require('node:test');
const { MongoClient, MongoServerError, BSON } = require('mongodb');

const expected = BSON.EJSON.parse(readFileSync(process.env.EBB_EXPECTATIONS, 'utf8'), {
  relaxed: false,
});
const plain = JSON.parse(readFileSync(process.env.EBB_EXPECTATIONS, 'utf8'));

/** How long a driver may take to connect on a busy machine, and when a refused connection is given up. */
const PATIENCE_MS = 30_000;
const REFUSAL_MS = 2_000;

/** The manual clock, moved through the driver. */
class Clock {
  constructor(client) {
    this.admin = client.db('admin');
  }

  async now() {
    return (await this.admin.command({ ebbClock: 1 })).now;
  }

  async advance(seconds) {
    return (await this.admin.command({ ebbClock: 1, advanceSeconds: seconds })).now;
  }

  /** Lifetimes on `_ts` count whole seconds; a test starts at the top of one. */
  async toWholeSecond() {
    const now = await this.now();
    if (now.getMilliseconds() !== 0) {
      await this.admin.command({ ebbClock: 1, set: new Date(Math.ceil(now / 1000) * 1000) });
    }
  }
}

/** Registers the hooks; the fields are filled in before each test. */
function setup() {
  const at = { uri: process.env.EBB_URI, replies: {} };
  before(async () => {
    at.client = await new MongoClient(at.uri, { monitorCommands: true }).connect();
    // The helpers throw replies away; command monitoring keeps them.
    at.client.on('commandSucceeded', (event) => {
      at.replies[event.commandName] = event.reply;
    });
    at.clock = new Clock(at.client);
  });
  beforeEach(async () => {
    at.db = at.client.db('node');
    await at.db.dropDatabase();
    at.coll = at.db.collection('coll');
    await at.clock.toWholeSecond();
  });
  after(() => at.client.close());
  return at;
}

const ids = async (cursor) => (await cursor.toArray()).map((d) => d._id).sort();
const later = (date, ms) => new Date(date.getTime() + ms);

/** Uses a client, and closes it. */
async function using(client, body) {
  try {
    await body(client);
  } finally {
    await client.close();
  }
}

/** Whether an error is the server's, with this code; for `assert.rejects`. */
const refused = (code) => (error) => {
  assert(error instanceof MongoServerError, error);
  assert.equal(Number(error.code), Number(code), error);
  return true;
};

module.exports = {
  PATIENCE_MS,
  REFUSAL_MS,
  setup,
  ids,
  later,
  refused,
  using,
  expected,
  matrix: plain.matrix,
};
