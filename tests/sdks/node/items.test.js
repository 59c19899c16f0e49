// Items: point operations, conditions, partition keys, unique keys and partial updates.
'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { setup, connect, bare, ids, query, refused, clock, texts } = require('./setup');

const at = setup();
const ifMatch = (condition) => ({ accessCondition: { type: 'IfMatch', condition } });
const set = (path, value) => ({ op: 'set', path, value });

test('create and read', async () => {
  const { items } = await at.make();
  const { resource, statusCode, requestCharge, activityId, etag, headers, item } =
    await items.create({ id: '1', pk: 'a', n: 1 });
  assert.equal(statusCode, 201);
  assert.deepEqual(bare(resource), { id: '1', pk: 'a', n: 1 });
  for (const name of ['_rid', '_self', '_etag', '_ts', '_attachments'])
    assert.ok(name in resource, name);
  assert.equal(resource._ts, await clock.now());
  assert.ok(requestCharge > 0);
  assert.match(activityId, /^[0-9a-f-]{36}$/);
  assert.equal(etag, resource._etag);
  assert.match(headers['x-ms-session-token'], /^0:/);
  const read = await item.read();
  assert.equal(read.statusCode, 200);
  assert.deepEqual(read.resource, resource);
});

test('values come back as they were', async () => {
  const container = await at.make();
  const body = {
    id: '1',
    pk: 'a',
    null: null,
    true: true,
    int: 1,
    negative: -7,
    big: 9007199254740991,
    fraction: 0.1,
    tiny: 1e-300,
    text: 'é漢\u{1f600}"\\\n',
    empty: '',
    list: [1, [2, { a: [] }]],
    object: { a: { b: { c: {} } } },
    'name with space': 1,
  };
  await container.items.create(body);
  assert.deepEqual(bare((await container.item('1', 'a').read()).resource), body);
});

test('a missing item is 404', async () => {
  const container = await at.make();
  const { resource, statusCode, substatus } = await container.item('none', 'a').read();
  assert.deepEqual(
    [resource, statusCode, substatus || 0],
    [undefined, 404, 0],
    'the SDK throws nothing here',
  );
  await refused(
    container.item('none', 'a').replace({ id: 'none', pk: 'a' }),
    404,
    texts.itemNotFound,
  );
  await refused(container.item('none', 'a').delete(), 404, texts.itemNotFound);
  await refused(container.item('none', 'a').patch([set('/n', 1)]), 404, texts.itemNotFound);
});

test('twice is 409', async () => {
  const container = await at.make();
  await container.items.create({ id: '1', pk: 'a', n: 1 });
  await refused(container.items.create({ id: '1', pk: 'a', n: 2 }), 409, texts.conflict);
  await container.items.create({ id: '1', pk: 'b' });
  assert.equal((await container.item('1', 'a').read()).resource.n, 1);
});

test('upsert, replace and delete', async () => {
  const container = await at.make();
  const made = await container.items.upsert({ id: '1', pk: 'a', n: 1 });
  assert.equal(made.statusCode, 201);
  const changed = await container.items.upsert({ id: '1', pk: 'a', m: 2 });
  assert.equal(changed.statusCode, 200);
  assert.equal(changed.resource._rid, made.resource._rid);
  assert.notEqual(changed.resource._etag, made.resource._etag);
  const replaced = await container.item('1', 'a').replace({ id: '1', pk: 'a', o: 3 });
  assert.equal(replaced.statusCode, 200);
  assert.deepEqual(bare((await container.item('1', 'a').read()).resource), {
    id: '1',
    pk: 'a',
    o: 3,
  });
  assert.equal((await container.item('1', 'a').delete()).statusCode, 204);
  assert.equal((await container.item('1', 'a').read()).statusCode, 404);
});

test('ids are made when there is none', async () => {
  const container = await at.make();
  const { resource } = await container.items.create({ pk: 'a' });
  assert.deepEqual((await container.item(resource.id, 'a').read()).resource, resource);
});

for (const id of [
  'with space',
  'é漢字\u{1f600}',
  'a.b-c_d~e',
  '\'quotes"',
  '%41',
  'a+b&c=d',
  'x'.repeat(255),
]) {
  test(`the id ${id.slice(0, 20)}`, async () => {
    const container = await at.make();
    await container.items.create({ id, pk: 'a' });
    assert.equal((await container.item(id, 'a').read()).resource.id, id);
    await container.item(id, 'a').replace({ id, pk: 'a', n: 1 });
    assert.deepEqual(
      await query(container, 'SELECT VALUE c.id FROM c WHERE c.id = @id', { '@id': id }),
      [id],
    );
    await container.item(id, 'a').delete();
  });
}

test('ETags', async () => {
  const container = await at.make();
  const item = container.item('1', 'a');
  const old = (await container.items.create({ id: '1', pk: 'a', n: 0 })).etag;
  const now = (await item.replace({ id: '1', pk: 'a', n: 1 }, ifMatch(old))).etag;
  const text = texts.precondition;
  await refused(item.replace({ id: '1', pk: 'a', n: 2 }, ifMatch(old)), 412, text);
  await refused(container.items.upsert({ id: '1', pk: 'a', n: 2 }, ifMatch(old)), 412, text);
  await refused(item.patch([set('/n', 2)], ifMatch(old)), 412, text);
  await refused(item.delete(ifMatch(old)), 412, text);
  const unchanged = await item.read({ accessCondition: { type: 'IfNoneMatch', condition: now } });
  assert.equal(unchanged.statusCode, 304);
  assert.equal(
    (await item.read({ accessCondition: { type: 'IfNoneMatch', condition: old } })).resource.n,
    1,
  );
  await item.delete(ifMatch(now));
});

test('an item above 2 MB is 413', async () => {
  const container = await at.make();
  await container.items.create({ id: 'fits', pk: 'a', text: 'x'.repeat(1_900_000) });
  await refused(
    container.items.create({ id: 'large', pk: 'a', text: 'x'.repeat(2_200_000) }),
    413,
    'Request size is too large',
  );
});

for (const value of [
  'a',
  '',
  'é漢\u{1f600}',
  'x'.repeat(1000),
  1,
  0,
  -5,
  1.5,
  1e20,
  true,
  false,
  null,
]) {
  test(`the partition key ${String(value).slice(0, 10) || 'empty'}`, async () => {
    const container = await at.make();
    await container.items.create({ id: '1', pk: value });
    await container.items.create({ id: '2', pk: 'other' });
    assert.equal((await container.item('1', value).read()).resource.pk, value);
    assert.deepEqual(ids(await query(container, 'SELECT * FROM c', {}, { partitionKey: value })), [
      '1',
    ]);
    assert.equal((await container.item('1', 'other').read()).statusCode, 404);
    await container.item('1', value).replace({ id: '1', pk: value, n: 1 });
    await container.item('1', value).delete();
  });
}

test('null and missing partition keys differ', async () => {
  const container = await at.make();
  await container.items.create({ id: '1', pk: null, is: 'null' });
  await container.items.create({ id: '1', is: 'missing' });
  assert.equal((await container.item('1', null).read()).resource.is, 'null');
  assert.equal((await container.item('1', undefined).read()).resource.is, 'missing');
  assert.equal((await container.item('1', {}).read()).resource.is, 'missing');
  assert.deepEqual(
    (await query(container, 'SELECT * FROM c', {}, { partitionKey: {} })).map((i) => i.is),
    ['missing'],
  );
  assert.deepEqual(
    (await query(container, 'SELECT * FROM c', {}, { partitionKey: null })).map((i) => i.is),
    ['null'],
  );
});

test('hierarchical partition keys and their prefixes', async () => {
  const partitionKey = { paths: ['/tenant', '/user'], kind: 'MultiHash', version: 2 };
  const container = await at.make({ partitionKey });
  for (const tenant of ['t1', 't2']) {
    for (const user of [1, 2])
      await container.items.create({ id: `${tenant}-${user}`, tenant, user });
  }
  assert.deepEqual((await container.read()).resource.partitionKey, partitionKey);
  assert.equal((await container.item('t1-1', ['t1', 1]).read()).resource.user, 1);
  assert.equal((await container.item('t1-1', ['t1', 2]).read()).statusCode, 404);
  assert.deepEqual(ids(await query(container, 'SELECT * FROM c', {}, { partitionKey: ['t1'] })), [
    't1-1',
    't1-2',
  ]);
  assert.deepEqual(
    ids(await query(container, 'SELECT * FROM c', {}, { partitionKey: ['t2', 2] })),
    ['t2-2'],
  );
  assert.equal((await query(container, 'SELECT * FROM c')).length, 4);
  await container.item('t1-1', ['t1', 1]).patch([set('/n', 1)]);
  await container.item('t1-1', ['t1', 1]).delete();
});

test('a header that does not match is 1001', async () => {
  const container = await at.make();
  const initialHeaders = { 'x-ms-documentdb-partitionkey': '["a"]' };
  const create = container.items.create({ id: '1', pk: 'b' }, { initialHeaders });
  // The SDK may put its own header over this one; then the item is made.
  await create.then(
    async () => assert.equal((await container.item('1', 'b').read()).statusCode, 200),
    (error) => refused(Promise.reject(error), 400, texts.partitionKeyMismatch, 1001),
  );
});

test('unique keys', async () => {
  const container = await at.make({ uniqueKeyPolicy: { uniqueKeys: [{ paths: ['/mail'] }] } });
  await container.items.create({ id: '1', pk: 'a', mail: 'x' });
  await refused(
    container.items.create({ id: '2', pk: 'a', mail: 'x' }),
    409,
    texts.uniqueViolation,
  );
  await refused(
    container.items.upsert({ id: '2', pk: 'a', mail: 'x' }),
    409,
    texts.uniqueViolation,
  );
  await container.items.create({ id: '2', pk: 'b', mail: 'x' });
  await container.items.upsert({ id: '1', pk: 'a', mail: 'x', n: 1 });
  await container.items.create({ id: '3', pk: 'a' });
  await refused(container.items.create({ id: '4', pk: 'a' }), 409, texts.uniqueViolation);
  await container.item('1', 'a').delete();
  await container.items.create({ id: '5', pk: 'a', mail: 'x' });
});

test('delete a partition', async () => {
  const container = await at.make();
  for (let n = 0; n < 6; n += 1) await container.items.create({ id: `${n}`, pk: 'ab'[n % 2] });
  await container.deleteAllItemsForPartitionKey('a');
  assert.deepEqual(ids(await query(container, 'SELECT * FROM c')), ['1', '3', '5']);
});

const start = { id: '1', pk: 'a', n: 1, name: 'x', list: ['a', 'b'], deep: { a: { b: 1 } } };
const patches = {
  add: [[{ op: 'add', path: '/new', value: { x: [1] } }], { new: { x: [1] } }],
  'add into a list': [[{ op: 'add', path: '/list/1', value: 'c' }], { list: ['a', 'c', 'b'] }],
  'add at the end': [[{ op: 'add', path: '/list/-', value: 'c' }], { list: ['a', 'b', 'c'] }],
  set: [[set('/deep/a/c', null)], { deep: { a: { b: 1, c: null } } }],
  replace: [[{ op: 'replace', path: '/name', value: 'y' }], { name: 'y' }],
  remove: [[{ op: 'remove', path: '/list/0' }], { list: ['b'] }],
  incr: [[{ op: 'incr', path: '/n', value: 2.5 }], { n: 3.5 }],
  move: [[{ op: 'move', from: '/deep/a', path: '/flat' }], { deep: {}, flat: { b: 1 } }],
  several: [
    [set('/n', 10), { op: 'incr', path: '/n', value: 1 }, { op: 'add', path: '/a~1b', value: 1 }],
    { n: 11, 'a/b': 1 },
  ],
};

for (const [name, [operations, changed]] of Object.entries(patches)) {
  test(`patch: ${name}`, async () => {
    const container = await at.make();
    await container.items.create(start);
    const { resource, statusCode } = await container.item('1', 'a').patch(operations);
    assert.equal(statusCode, 200);
    assert.deepEqual(bare(resource), { ...start, ...changed });
    assert.deepEqual((await container.item('1', 'a').read()).resource, resource);
  });
}

test('patch: a condition', async () => {
  const container = await at.make();
  const item = container.item('1', 'a');
  await container.items.create(start);
  const operations = [set('/n', 5)];
  await refused(
    item.patch({ condition: 'from c where c.n = 2', operations }),
    412,
    texts.precondition,
  );
  assert.equal((await item.patch({ condition: 'from c where c.n = 1', operations })).resource.n, 5);
});

test('patch: what is refused changes nothing', async () => {
  const container = await at.make();
  const item = container.item('1', 'a');
  const { resource } = await container.items.create(start);
  for (const operations of [
    [{ op: 'incr', path: '/name', value: 1 }],
    [{ op: 'replace', path: '/none', value: 1 }],
    [{ op: 'remove', path: '/none' }],
    [set('/id', '2')],
    [set('/pk', 'b')],
    [set('/_ts', 1)],
    [],
    [...Array(11).keys()].map((n) => set(`/p${n}`, n)),
    [set('/first', 1), { op: 'remove', path: '/none' }],
  ]) {
    await refused(item.patch(operations), 400);
  }
  assert.deepEqual((await item.read()).resource, resource);
});

test('a session token of the future is 1002, one of the past reads on', async () => {
  const container = await at.make();
  const { headers } = await container.items.create({ id: '1', pk: 'a' });
  const token = headers['x-ms-session-token'];
  await container.items.create({ id: '2', pk: 'a' });
  const other = connect().database(at.db.id).container(container.id);
  assert.equal((await other.item('2', 'a').read({ sessionToken: token })).statusCode, 200);
  const future = token.replace(/#\d+$/, '#999999999999');
  const { statusCode, diagnostics } = await other.item('2', 'a').read({ sessionToken: future });
  // The SDK asks again without the token.
  assert.equal(statusCode, 200);
  const [first, second] = diagnostics.clientSideRequestStatistics.gatewayStatistics;
  assert.deepEqual([first.statusCode, first.subStatusCode, second.statusCode], [404, 1002, 200]);
});
