// TLS, and logging in with a certificate: who is let in, and what the others are told.
'use strict';

const assert = require('node:assert/strict');
const { after, before, test } = require('node:test');
const path = require('node:path');
const { MongoClient, MongoServerSelectionError } = require('mongodb');
const { PATIENCE_MS, REFUSAL_MS, expected, refused, using } = require('./setup');

const uri = process.env.EBB_LOGIN_URI;
const { wrongPassword, missingRight } = expected.logins;
const file = (name) => path.join(process.env.EBB_TLS, name);
const subject = 'CN=ann,OU=drivers,O=ebb';
const password = process.env.EBB_LOGIN_PASSWORD;

/** A client that believes the server's authority. */
function overTls(options = {}) {
  return new MongoClient(uri, { tls: true, tlsCAFile: file('ca.pem'), ...options });
}

function withCertificate(name) {
  const serverSelectionTimeoutMS = name === 'stranger' ? REFUSAL_MS : PATIENCE_MS;
  const shown = { tlsCertificateKeyFile: file(`${name}.pem`), serverSelectionTimeoutMS };
  return overTls({ ...shown, authMechanism: 'MONGODB-X509' });
}

let root;
before(async () => {
  root = overTls({ auth: { username: 'root', password } });
  await root.db('tls').collection('coll').insertOne({ _id: 1 });
  const roles = [{ role: 'read', db: 'tls' }];
  await root.db('$external').command({ createUser: subject, roles });
});
after(async () => {
  await root.db('$external').command({ dropAllUsersFromDatabase: 1 });
  await root.close();
});

test('a user logs in with her certificate', () =>
  using(withCertificate('ann'), async (client) => {
    assert.deepEqual(await client.db('tls').collection('coll').findOne(), { _id: 1 });
    const { authInfo } = await client.db('admin').command({ connectionStatus: 1 });
    assert.deepEqual(authInfo.authenticatedUsers, [{ user: subject, db: '$external' }]);
    await assert.rejects(client.db('tls').collection('coll').insertOne({}), refused(missingRight));
    await assert.rejects(client.db('other').collection('coll').findOne(), refused(missingRight));
  }));

test('a certificate that no user has is refused', () =>
  using(withCertificate('eve'), (client) =>
    assert.rejects(client.connect(), refused(wrongPassword)),
  ));

test('a certificate of another authority ends the handshake', () =>
  using(withCertificate('stranger'), (client) =>
    assert.rejects(client.connect(), MongoServerSelectionError),
  ));

test('passwords and TLS, and a server that is not believed', async () => {
  for (const authMechanism of expected.logins.mechanisms) {
    const auth = { username: 'root', password };
    await using(overTls({ auth, authMechanism }), async (client) =>
      assert.equal((await client.db('admin').command({ ping: 1 })).ok, 1),
    );
  }
  const other = { tlsCAFile: file('other.pem'), serverSelectionTimeoutMS: REFUSAL_MS };
  await using(overTls(other), (client) =>
    assert.rejects(client.connect(), MongoServerSelectionError),
  );
});
