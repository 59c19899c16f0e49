// The monitor of a client is told of the server again and again by one answer without an end.
'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { MongoClient } = require('mongodb');

/** The shortest time that the driver lets the server wait. */
const heartbeatFrequencyMS = 500;

test('a client that does nothing keeps its server and its connections', async () => {
  const client = new MongoClient(process.env.EBB_URI, { heartbeatFrequencyMS });
  const lost = [];
  const heard = new Promise((resolve) => {
    let awaited = 0;
    client.on('serverHeartbeatSucceeded', (event) => {
      awaited += event.awaited;
      if (awaited === 5) resolve();
    });
  });
  for (const name of ['serverHeartbeatFailed', 'connectionPoolCleared']) {
    client.on(name, (event) => lost.push(event));
  }
  await client.connect();
  try {
    await heard;
    assert.deepEqual(lost, []);
    assert.equal((await client.db('admin').command({ ping: 1 })).ok, 1);
  } finally {
    await client.close();
  }
});
