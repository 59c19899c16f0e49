// Databases and containers: made, read, listed, queried, replaced and deleted.
'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { setup, ids, query, refused, expected, texts } = require('./setup');

const at = setup();
const policy = {
  indexingMode: 'consistent',
  automatic: true,
  includedPaths: [{ path: '/*' }],
  excludedPaths: [{ path: '/"_etag"/?' }],
};

async function replace(container, changes) {
  const { resource } = await container.replace({
    id: container.id,
    partitionKey: { paths: ['/pk'] },
    ...changes,
  });
  assert.deepEqual((await container.read()).resource, resource);
  return resource;
}

test('a database is made, read, listed, queried and deleted', async () => {
  const id = 'node a database';
  const { resource, statusCode, database } = await at.client.databases.create({ id });
  assert.equal(statusCode, 201);
  for (const name of ['_rid', '_self', '_etag', '_ts', '_colls', '_users'])
    assert.ok(name in resource, name);
  assert.deepEqual((await database.read()).resource, resource);
  assert.ok(ids((await at.client.databases.readAll().fetchAll()).resources).includes(id));
  const spec = {
    query: 'SELECT * FROM r WHERE r.id = @id',
    parameters: [{ name: '@id', value: id }],
  };
  assert.deepEqual(ids((await at.client.databases.query(spec).fetchAll()).resources), [id]);
  await refused(at.client.databases.create({ id }), 409);
  assert.equal((await at.client.databases.createIfNotExists({ id })).statusCode, 200);
  assert.equal((await database.delete()).statusCode, 204);
  await refused(database.read(), 404, 'Resource Not Found');
  assert.equal((await at.client.databases.createIfNotExists({ id })).statusCode, 201);
  await database.delete();
  await refused(database.delete(), 404);
});

test('a container is made, read, listed, queried and deleted', async () => {
  const container = await at.make({ id: 'made' });
  const { resource } = await container.read();
  const { paths, kind, version } = resource.partitionKey;
  assert.deepEqual({ paths, kind }, { paths: ['/pk'], kind: 'Hash' });
  assert.ok(version === undefined || version === 1 || version === 2);
  assert.ok(!('defaultTtl' in resource));
  for (const name of [
    '_rid',
    '_self',
    '_etag',
    '_ts',
    '_docs',
    '_sprocs',
    '_triggers',
    '_udfs',
    '_conflicts',
  ]) {
    assert.ok(name in resource, name);
  }
  for (const [name, value] of Object.entries(policy))
    assert.deepEqual(resource.indexingPolicy[name], value);
  assert.ok(ids((await at.db.containers.readAll().fetchAll()).resources).includes('made'));
  const spec = {
    query: 'SELECT * FROM c WHERE c.id = @id',
    parameters: [{ name: '@id', value: 'made' }],
  };
  assert.deepEqual(ids((await at.db.containers.query(spec).fetchAll()).resources), ['made']);
  await refused(at.make({ id: 'made' }), 409);
  assert.equal(
    (await at.db.containers.createIfNotExists({ id: 'made', partitionKey: '/pk' })).statusCode,
    200,
  );
  assert.equal((await container.delete()).statusCode, 204);
  await refused(container.read(), 404, 'Resource Not Found');
  await refused(container.delete(), 404);
});

test('missing parents are 404', async () => {
  await refused(
    at.client.database('none').containers.create({ id: 'c', partitionKey: '/pk' }),
    404,
    'Resource Not Found',
    1003,
  );
  await refused(at.db.container('none').items.create({ id: '1', pk: 'a' }), 404);
});

test('listing in pages', async () => {
  for (let n = 0; n < 5; n += 1) await at.make({ id: `paged${n}` });
  const names = [];
  for await (const page of at.db.containers.readAll({ maxItemCount: 2 }).getAsyncIterator()) {
    assert.ok(page.resources.length <= 2);
    names.push(...ids(page.resources));
  }
  for (let n = 0; n < 5; n += 1) assert.ok(names.includes(`paged${n}`));
});

test('TTL is turned on, changed and off by replace', async () => {
  const container = await at.make({ defaultTtl: 10 });
  const before = (await container.read()).resource;
  assert.equal(before.defaultTtl, 10);
  const after = await replace(container, { defaultTtl: 20 });
  assert.equal(after.defaultTtl, 20);
  assert.equal(after._rid, before._rid);
  assert.notEqual(after._etag, before._etag);
  assert.equal((await replace(container, { defaultTtl: -1 })).defaultTtl, -1);
  assert.ok(!('defaultTtl' in (await replace(container, {}))));
  assert.equal((await replace(container, { defaultTtl: 5 })).defaultTtl, 5);
});

for (const value of expected.acceptedDefaultTtl) {
  test(`defaultTtl ${value} is accepted`, async () => {
    const container = await at.make({ defaultTtl: value });
    assert.equal((await container.read()).resource.defaultTtl, value);
    assert.equal((await replace(container, { defaultTtl: value })).defaultTtl, value);
  });
}

for (const value of [...expected.refusedDefaultTtl, null]) {
  test(`defaultTtl ${JSON.stringify(value)} is refused`, async () => {
    await refused(at.make({ id: 'refused', defaultTtl: value }), 400, 'defaultTtl');
    await refused(at.db.container('refused').read(), 404);
    const container = await at.make({ defaultTtl: 30 });
    await refused(replace(container, { defaultTtl: value }), 400, 'defaultTtl');
    assert.equal((await container.read()).resource.defaultTtl, 30);
  });
}

test('indexing none and a default exclude each other', async () => {
  const none = { indexingMode: 'none', automatic: false };
  const text = texts.indexingNoneWithTtl;
  await refused(at.make({ defaultTtl: 10, indexingPolicy: none }), 400, text);
  const withTtl = await at.make({ defaultTtl: -1 });
  await refused(replace(withTtl, { defaultTtl: -1, indexingPolicy: none }), 400, text);
  const without = await at.make({ indexingPolicy: none });
  assert.equal((await without.read()).resource.indexingPolicy.indexingMode, 'none');
  await refused(replace(without, { defaultTtl: 10, indexingPolicy: none }), 400, text);
  assert.equal((await replace(without, { defaultTtl: 10, indexingPolicy: policy })).defaultTtl, 10);
});

test('an indexing policy comes back', async () => {
  const container = await at.make();
  const compositeIndexes = [
    [
      { path: '/a', order: 'ascending' },
      { path: '/b', order: 'descending' },
    ],
  ];
  const found = await replace(container, { indexingPolicy: { ...policy, compositeIndexes } });
  assert.deepEqual(found.indexingPolicy.compositeIndexes, compositeIndexes);
});

test('the partition key cannot be changed', async () => {
  const container = await at.make();
  await refused(container.replace({ id: container.id, partitionKey: { paths: ['/other'] } }), 400);
  assert.deepEqual((await container.read()).resource.partitionKey.paths, ['/pk']);
});

test('the partition key ranges cover everything', async () => {
  const container = await at.make();
  const { resources } = await container.readPartitionKeyRanges().fetchAll();
  assert.deepEqual(
    resources.map((r) => [r.id, r.minInclusive, r.maxExclusive]),
    [['0', '', 'FF']],
  );
  assert.equal((await container.getFeedRanges()).length, 1);
});

test('throughput of a container and of a database', async () => {
  const container = await at.make({ throughput: 400 });
  const { resource, offer } = await container.readOffer();
  assert.equal(resource.content.offerThroughput, 400);
  resource.content.offerThroughput = 500;
  await offer.replace(resource);
  assert.equal((await container.readOffer()).resource.content.offerThroughput, 500);
  assert.ok(
    (await at.client.offers.readAll().fetchAll()).resources.some((o) => o.id === resource.id),
  );
  assert.equal((await offer.read()).resource.content.offerThroughput, 500);

  const { database } = await at.client.databases.create({ id: 'node-throughput', throughput: 600 });
  assert.equal((await database.readOffer()).resource.content.offerThroughput, 600);
  await database.delete();
});

test('throughput that scales itself', async () => {
  const container = await at.make({ maxThroughput: 4000 });
  const { resource } = await container.readOffer();
  assert.equal(resource.content.offerAutopilotSettings.maxThroughput, 4000);
});

test('too little throughput is refused', async () => {
  await refused(at.make({ throughput: 100 }), 400);
});

test('a container made again is empty', async () => {
  const container = await at.make({ id: 'again' });
  await container.items.create({ id: '1', pk: 'a' });
  const before = (await container.read()).resource._rid;
  await container.delete();
  const again = await at.make({ id: 'again' });
  assert.notEqual((await again.read()).resource._rid, before);
  assert.deepEqual(await query(container, 'SELECT * FROM c'), []);
});
