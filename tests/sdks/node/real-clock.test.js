// The one test on the machine's own clock, against a server of its own.
'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { CosmosClient } = require('@azure/cosmos');
const { key, query } = require('./setup');

test('real clock: a ttl of one second', { timeout: 10_000 }, async () => {
  const client = new CosmosClient({ endpoint: process.env.EBB_SYSTEM_ENDPOINT, key });
  try {
    const { database } = await client.databases.create({ id: 'node' });
    const { container } = await database.containers.create({
      id: 'c',
      partitionKey: '/pk',
      defaultTtl: 3600,
    });
    await container.items.create({ id: '1', pk: 'a', ttl: 1 });
    await container.items.create({ id: '2', pk: 'a' });
    while ((await container.item('1', 'a').read()).statusCode === 200)
      await new Promise((done) => setTimeout(done, 20));
    assert.deepEqual(await query(container, 'SELECT VALUE c.id FROM c'), ['2']);
    assert.deepEqual(await query(container, 'SELECT VALUE COUNT(1) FROM c'), [1]);
    assert.equal((await container.items.create({ id: '1', pk: 'a' })).statusCode, 201);
  } finally {
    client.dispose();
  }
});
