// Users, their permissions, and what a resource token lets a client do.
'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { setup, connect, bare, ids, query, refused, texts } = require('./setup');

const at = setup();
let made = 0;

async function permit(container, permissionMode, more = {}) {
  made += 1;
  const { user } = await at.db.users.create({ id: `u${made}` });
  return (
    await user.permissions.create({ id: 'p', permissionMode, resource: container.url, ...more })
  ).resource;
}

/** The same container, for a client that has only this token. */
const holder = (container, token) =>
  connect({ key: undefined, resourceTokens: { [container.url]: token } })
    .database(at.db.id)
    .container(container.id);

test('users and permissions', async () => {
  const container = await at.make();
  const { user, resource } = await at.db.users.create({ id: 'user' });
  assert.ok('_permissions' in resource);
  await refused(at.db.users.create({ id: 'user' }), 409);
  assert.deepEqual(ids((await at.db.users.readAll().fetchAll()).resources), ['user']);
  const permission = { id: 'p', permissionMode: 'Read', resource: container.url };
  const created = await user.permissions.create(permission);
  assert.match(created.resource._token, /^type=resource&/);
  assert.equal((await user.permission('p').read()).resource.permissionMode, 'Read');
  await user.permission('p').replace({ ...permission, permissionMode: 'All' });
  assert.equal((await user.permission('p').read()).resource.permissionMode, 'All');
  await user.permissions.upsert({
    ...permission,
    id: 'q',
    resource: `${container.url}/docs/x`,
    resourcePartitionKey: ['a'],
  });
  assert.deepEqual(ids((await user.permissions.readAll().fetchAll()).resources), ['p', 'q']);
  await user.permission('p').delete();
  await refused(user.permission('p').read(), 404);
  await user.replace({ id: 'renamed' });
  await refused(user.read(), 404);
  await at.db.user('renamed').delete();
});

test('a token that reads', async () => {
  const container = await at.make();
  await container.items.create({ id: '1', pk: 'a' });
  const mine = holder(container, (await permit(container, 'Read'))._token);
  assert.equal((await mine.item('1', 'a').read()).resource.id, '1');
  assert.deepEqual(ids(await query(mine, 'SELECT * FROM c')), ['1']);
  await refused(mine.items.create({ id: '2', pk: 'a' }), 403);
  await refused(mine.item('1', 'a').delete(), 403);
});

test('a token that does all', async () => {
  const container = await at.make();
  const mine = holder(container, (await permit(container, 'All'))._token);
  await mine.items.create({ id: '1', pk: 'a', n: 1 });
  await mine.item('1', 'a').patch([{ op: 'incr', path: '/n', value: 1 }]);
  assert.deepEqual(bare((await container.item('1', 'a').read()).resource), {
    id: '1',
    pk: 'a',
    n: 2,
  });
});

test('a token of one partition key', async () => {
  const container = await at.make();
  for (const pk of ['a', 'b']) await container.items.create({ id: '1', pk });
  const mine = holder(
    container,
    (await permit(container, 'Read', { resourcePartitionKey: ['a'] }))._token,
  );
  assert.equal((await mine.item('1', 'a').read()).resource.pk, 'a');
  await refused(mine.item('1', 'b').read(), 403);
});

test('a token is good for its container alone, and a forged one for nothing', async () => {
  const container = await at.make();
  const other = await at.make();
  const { _token } = await permit(container, 'All');
  await refused(holder(other, _token).read(), 403);
  await refused(
    holder(container, `${_token.slice(0, -8)}AAAAAAA=`).read(),
    401,
    texts.unauthorized,
  );
});

test('scripts are kept as resources', async () => {
  const { scripts } = await at.make();
  const body = 'function () { return 1 }';
  for (const [many, one, more] of [
    ['storedProcedures', 'storedProcedure', {}],
    ['triggers', 'trigger', { triggerType: 'Pre', triggerOperation: 'All' }],
    ['userDefinedFunctions', 'userDefinedFunction', {}],
  ]) {
    await scripts[many].create({ id: 's', body, ...more });
    await refused(scripts[many].create({ id: 's', body, ...more }), 409);
    assert.deepEqual(ids((await scripts[many].readAll().fetchAll()).resources), ['s']);
    await scripts[one]('s').replace({ id: 's', body: 'function () {}', ...more });
    assert.equal((await scripts[one]('s').read()).resource.body, 'function () {}');
    await scripts[one]('s').delete();
    await refused(scripts[one]('s').read(), 404);
  }
});
