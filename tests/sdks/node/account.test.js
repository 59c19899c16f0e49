// Starting a client: the account, its endpoints, and who is let in.
'use strict';

const assert = require('node:assert/strict');
const { createHmac } = require('node:crypto');
const https = require('node:https');
const { test } = require('node:test');
const { CosmosClient } = require('@azure/cosmos');
const { setup, connect, refused, texts, endpoint, key } = require('./setup');

const at = setup();
const secure = process.env.EBB_HTTPS_ENDPOINT;
const databases = async (client) =>
  (await client.databases.readAll().fetchAll()).resources.map((d) => d.id);

/** The headers of `GET /`, signed by hand. */
function signed() {
  const date = new Date().toUTCString();
  const text = `get\n\n\n${date.toLowerCase()}\n\n`;
  const sig = createHmac('sha256', Buffer.from(key, 'base64')).update(text).digest('base64');
  return {
    authorization: encodeURIComponent(`type=master&ver=1.0&sig=${sig}`),
    'x-ms-date': date,
    'x-ms-version': '2020-07-15',
  };
}

test('the account names the address that was used', async () => {
  const { resource, headers } = await at.client.getDatabaseAccount();
  const answer = await (await fetch(endpoint, { headers: signed() })).json();
  for (const places of [answer.writableLocations, answer.readableLocations]) {
    assert.deepEqual(
      places.map((place) => place.databaseAccountEndpoint),
      [`${endpoint}/`],
      'the SDK hides these',
    );
  }
  assert.equal(resource.consistencyPolicy, 'Session');
  assert.match(headers['x-ms-activity-id'], /^[0-9a-f-]{36}$/);
  assert.equal((await at.client.getWriteEndpoint()).replace(/\/$/, ''), endpoint);
});

test('it echoes a host name', async () => {
  const local = endpoint.replace('127.0.0.1', 'localhost');
  const client = connect({ endpoint: local });
  assert.ok((await databases(client)).includes(at.db.id));
  assert.equal((await client.getWriteEndpoint()).replace(/\/$/, ''), local);
});

test('https with the certificate of the server', async () => {
  const ca = await (await fetch(`${endpoint}/_explorer/emulator.pem`)).text();
  const client = connect({ endpoint: secure, agent: new https.Agent({ ca }) });
  assert.ok((await databases(client)).includes(at.db.id));
  assert.ok((await client.getWriteEndpoint()).startsWith('https://'));
});

test('https with another certificate is refused by the client', async () => {
  // A request that fails keeps its timer, and that the process.
  const connectionPolicy = { requestTimeout: 500 };
  const client = connect({
    endpoint: secure,
    agent: new https.Agent({ ca: [] }),
    connectionPolicy,
  });
  await assert.rejects(databases(client));
});

test('a connection string', async () => {
  const client = new CosmosClient(`AccountEndpoint=${endpoint}/;AccountKey=${key};`);
  try {
    assert.ok((await databases(client)).includes(at.db.id));
  } finally {
    client.dispose();
  }
});

test('a wrong key is 401', async () => {
  const client = connect({ key: Buffer.alloc(64, 'w').toString('base64') });
  await refused(client.databases.readAll().fetchAll(), 401, texts.unauthorized);
});

test('the secondary key does all, a read-only key reads', async () => {
  const container = await at.make();
  const open = (other) => connect({ key: other }).database(at.db.id).container(container.id);
  await open(process.env.EBB_SECONDARY_KEY).items.create({ id: '1', pk: 'a' });
  const reader = open(process.env.EBB_READONLY_KEY);
  assert.equal((await reader.item('1', 'a').read()).resource.id, '1');
  assert.equal((await reader.items.query('SELECT * FROM c').fetchAll()).resources.length, 1);
  await refused(reader.items.create({ id: '2', pk: 'a' }), 403);
  await refused(reader.item('1', 'a').delete(), 403);
  await refused(reader.delete(), 403);
});

test('the token provider signs for itself', async () => {
  const client = connect({
    key: undefined,
    tokenProvider: async () => 'type%3Dmaster%26ver%3D1.0%26sig%3Dforged',
  });
  await refused(client.databases.readAll().fetchAll(), 401);
});

test('a token of local development', async () => {
  const part = (value) =>
    Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');
  const now = Math.floor(Date.now() / 1000);
  const head = {
    typ: 'JWT',
    alg: 'RS256',
    x5t: 'CosmosEmulatorPrimaryMaster',
    kid: 'CosmosEmulatorPrimaryMaster',
  };
  const claims = {
    aud: 'https://localhost.localhost',
    iss: 'https://sts.fake-issuer.net/7b1999a1-dfd7-440e-8204-00170979b984',
    iat: now - 60,
    nbf: now - 60,
    exp: now + 3600,
    appid: 'localhost',
    sub: 'localhost',
    ver: '1.0',
    scp: 'user_impersonation',
  };
  const token = `${part(head)}.${part(claims)}.${part(key)}`;
  // Such tokens go over https alone.
  const ca = await (await fetch(`${endpoint}/_explorer/emulator.pem`)).text();
  const client = connect({
    endpoint: secure,
    key: undefined,
    agent: new https.Agent({ ca }),
    aadCredentials: { getToken: async () => ({ token, expiresOnTimestamp: (now + 3600) * 1000 }) },
  });
  const container = await at.make();
  await container.items.create({ id: '1', pk: 'a' });
  const same = client.database(at.db.id).container(container.id);
  assert.equal((await same.item('1', 'a').read()).resource.id, '1');
});
