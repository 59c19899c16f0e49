// One client per test file, a fresh container per test, and the manual clock.
'use strict';

const assert = require('node:assert/strict');
const { readFileSync } = require('node:fs');
const path = require('node:path');
const { after, before } = require('node:test');
const { CosmosClient } = require('@azure/cosmos');

const endpoint = process.env.EBB_ENDPOINT;
const key = process.env.EBB_KEY;
const expected = JSON.parse(readFileSync(process.env.EBB_EXPECTATIONS, 'utf8'));
const { texts } = expected;
const codes = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  409: 'Conflict',
  412: 'PreconditionFailed',
  413: 'RequestEntityTooLarge',
};

/** The manual clock, which stands at whole seconds. */
const clock = {
  url: `${process.env.EBB_ADMIN}/_ebb/clock`,

  async now() {
    return (await (await fetch(this.url)).json()).now_ms / 1000;
  },

  async advance(seconds) {
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(this.url, {
      method: 'POST',
      headers,
      body: JSON.stringify({ advance_seconds: seconds }),
    });
    assert.equal(answer.status, 200);
  },
};

const opened = [];

/** Another client; it is disposed of when the file's tests are done. */
function connect(options = {}) {
  const client = new CosmosClient({ endpoint, key, ...options });
  opened.push(client);
  return client;
}

/** Registers the hooks; client, the file's database and what prepare makes are there before the first test. */
function setup(prepare = async () => {}) {
  let made = 0;
  const at = {
    /** Makes a container with a partition key `/pk`, unless told otherwise. */
    async make(definition = {}, options = {}) {
      made += 1;
      const body = { id: `c${made}`, partitionKey: { paths: ['/pk'] }, ...definition };
      return (await at.db.containers.create(body, options)).container;
    },
  };
  before(async () => {
    at.client = connect();
    const id = `node-${path.basename(process.argv[1], '.test.js')}`;
    at.db = (await at.client.databases.create({ id })).database;
    await prepare(at);
  });
  after(() => {
    for (const client of opened) client.dispose();
  });
  return at;
}

/** An item without what the server adds. */
function bare({ _rid, _self, _etag, _ts, _attachments, ...rest }) {
  return rest;
}

const ids = (items) => items.map((item) => item.id).sort();

/** The call has to fail like this. */
async function refused(call, status, text = '', substatus = 0) {
  await assert.rejects(call, (error) => {
    assert.deepEqual(
      [error.code, error.substatus || 0],
      [status, substatus],
      `${error.code} ${error.message}`,
    );
    if (error.body) assert.equal(error.body.code, codes[status]);
    assert.ok(error.message.includes(text), error.message);
    return true;
  });
}

/** Runs a query to its end, over all partitions or with { partitionKey } in one. */
async function query(container, text, parameters = {}, options = {}) {
  const named = Object.entries(parameters).map(([name, value]) => ({ name, value }));
  return (await container.items.query({ query: text, parameters: named }, options).fetchAll())
    .resources;
}

module.exports = {
  setup,
  connect,
  bare,
  ids,
  refused,
  query,
  clock,
  expected,
  texts,
  endpoint,
  key,
};
