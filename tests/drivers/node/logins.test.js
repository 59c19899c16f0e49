// Logging in: both mechanisms, a wrong password, and a right that is missing.
'use strict';

const assert = require('node:assert/strict');
const { after, before, test } = require('node:test');
const { MongoClient } = require('mongodb');
const { expected, refused, using } = require('./setup');

const uri = process.env.EBB_LOGIN_URI;
const { mechanisms, wrongPassword, missingRight } = expected.logins;
const right = 'ann’s password';

function login(username, password, options = {}) {
  return new MongoClient(uri, { auth: { username, password }, ...options });
}

function asAnn(authMechanism, password, body) {
  return using(login('ann', password, { authSource: 'node', authMechanism }), body);
}

let root;
before(async () => {
  root = login('root', process.env.EBB_LOGIN_PASSWORD);
  await root.db('node').collection('coll').insertOne({ _id: 1 });
  await root.db('node').command({ createUser: 'ann', pwd: right, roles: ['read'] });
  const only = { mechanisms: mechanisms.slice(0, 1) };
  await root.db('node').command({ createUser: 'old', pwd: right, roles: [], ...only });
});
after(async () => {
  await root.db('node').command({ dropAllUsersFromDatabase: 1 });
  await root.close();
});

for (const mechanism of [...mechanisms, undefined]) {
  test(`a user logs in by ${mechanism ?? 'what was agreed'}`, () =>
    asAnn(mechanism, right, async (client) => {
      assert.deepEqual(await client.db('node').collection('coll').findOne(), { _id: 1 });
      const { authInfo } = await client.db('admin').command({ connectionStatus: 1 });
      assert.deepEqual(authInfo.authenticatedUsers, [{ user: 'ann', db: 'node' }]);
      const coll = client.db('node').collection('coll');
      await assert.rejects(coll.insertOne({}), refused(missingRight));
      await assert.rejects(client.db('other').collection('coll').findOne(), refused(missingRight));
    }));

  test(`a wrong password is refused by ${mechanism ?? 'what was agreed'}`, () =>
    asAnn(mechanism, 'wrong', (client) =>
      assert.rejects(client.connect(), refused(wrongPassword)),
    ));
}

test('a user of the older mechanism alone', async () => {
  const client = login('old', right, { authSource: 'node' });
  try {
    assert.equal((await client.db('admin').command({ ping: 1 })).ok, 1);
  } finally {
    await client.close();
  }
});

test('who does not log in is told', async () => {
  const client = new MongoClient(uri);
  try {
    const found = client.db('node').collection('coll').findOne();
    await assert.rejects(found, refused(missingRight));
  } finally {
    await client.close();
  }
});
