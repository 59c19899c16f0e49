// Time to live: the matrix to the second, values, countdowns and changes of the default.
'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { ChangeFeedStartFrom } = require('@azure/cosmos');
const { setup, bare, ids, query, refused, clock, expected, texts } = require('./setup');

const at = setup();
const item = (id = '1', more = {}) => ({ id, pk: 'a', city: 'Paris', tags: ['x'], ...more });
const redefine = (container, changes) =>
  container.replace({ id: container.id, partitionKey: { paths: ['/pk'] }, ...changes });

/** Exactly these items are there, on every path that reads. */
async function everywhere(container, names, dead = []) {
  const alive = [...names].sort();
  for (const id of alive) assert.equal((await container.item(id, 'a').read()).resource.id, id);
  for (const id of dead) assert.equal((await container.item(id, 'a').read()).statusCode, 404);
  for (const options of [{}, { partitionKey: 'a' }, { forceQueryPlan: true }]) {
    const run = (text) => query(container, text, {}, options);
    assert.deepEqual(ids(await run('SELECT * FROM c')), alive);
    assert.deepEqual(ids(await run("SELECT * FROM c WHERE c.city = 'Paris'")), alive);
    assert.deepEqual(await run('SELECT VALUE c.id FROM c ORDER BY c.id'), alive);
    assert.deepEqual(await run('SELECT VALUE COUNT(1) FROM c'), [alive.length]);
    assert.deepEqual(
      await run('SELECT DISTINCT VALUE c.city FROM c'),
      alive.length ? ['Paris'] : [],
    );
    assert.deepEqual((await run('SELECT VALUE c.id FROM c JOIN t IN c.tags')).sort(), alive);
  }
  const grouped = await query(container, 'SELECT c.city, COUNT(1) AS n FROM c GROUP BY c.city');
  assert.deepEqual(grouped, alive.length ? [{ city: 'Paris', n: alive.length }] : []);
  assert.deepEqual(ids((await container.items.readAll().fetchAll()).resources), alive);
  const feed = container.items.getChangeFeedIterator({
    changeFeedStartFrom: ChangeFeedStartFrom.Beginning(),
  });
  assert.deepEqual(ids((await feed.readNext()).result ?? []), alive);
}

for (const { default: defaultTtl, ttl, diesAfter } of expected.matrix) {
  test(`matrix: default ${defaultTtl ?? 'off'}, ttl ${ttl ?? 'missing'}`, async () => {
    const container = await at.make(defaultTtl === null ? {} : { defaultTtl });
    const one = item('1', ttl === null ? {} : { ttl });
    await container.items.create(one);
    if (diesAfter === null) {
      await clock.advance(100 * 365 * 86_400);
      await everywhere(container, ['1']);
      assert.deepEqual(bare((await container.item('1', 'a').read()).resource), one);
    } else {
      await clock.advance(diesAfter - 1);
      await everywhere(container, ['1']);
      await clock.advance(1);
      await everywhere(container, [], ['1']);
      await clock.advance(1);
      await everywhere(container, [], ['1']);
    }
  });
}

const writes = {
  create: (c, ttl) => c.items.create(item('new', { ttl })),
  'upsert that creates': (c, ttl) => c.items.upsert(item('new', { ttl })),
  'upsert that replaces': (c, ttl) => c.items.upsert(item('old', { ttl })),
  replace: (c, ttl) => c.item('old', 'a').replace(item('old', { ttl })),
  patch: (c, ttl) => c.item('old', 'a').patch([{ op: 'set', path: '/ttl', value: ttl }]),
};

for (const { ttl, quoted } of expected.refusedItemTtl) {
  test(`ttl ${quoted} is refused where TTL is on`, async () => {
    for (const defaultTtl of [-1, 10]) {
      const container = await at.make({ defaultTtl });
      const { resource } = await container.items.create(item('old'));
      for (const write of Object.values(writes)) {
        await refused(write(container, ttl), 400, texts.itemTtl.replace('%s', quoted));
      }
      assert.deepEqual(await query(container, 'SELECT * FROM c'), [resource]);
    }
  });

  test(`ttl ${quoted} is stored where TTL is off`, async () => {
    const container = await at.make();
    await container.items.create(item('old'));
    for (const write of Object.values(writes))
      assert.deepEqual((await write(container, ttl)).resource.ttl, ttl);
    assert.deepEqual((await container.item('old', 'a').read()).resource.ttl, ttl);
  });
}

for (const ttl of expected.acceptedItemTtl) {
  test(`ttl ${ttl} is accepted`, async () => {
    const container = await at.make({ defaultTtl: 10 });
    await container.items.create(item('old'));
    for (const write of Object.values(writes))
      assert.equal((await write(container, ttl)).resource.ttl, ttl);
  });
}

const restarts = {
  replace: (c) => c.item('1', 'a').replace(item('1', { n: 2 })),
  upsert: (c) => c.items.upsert(item('1', { n: 2 })),
  patch: (c) => c.item('1', 'a').patch([{ op: 'set', path: '/n', value: 2 }]),
  batch: (c) => c.items.batch([{ operationType: 'Upsert', resourceBody: item() }], 'a'),
  bulk: (c) => c.items.bulk([{ operationType: 'Upsert', resourceBody: item() }]),
};

for (const [name, write] of Object.entries(restarts)) {
  test(`${name} restarts the countdown`, async () => {
    const container = await at.make({ defaultTtl: 10 });
    await container.items.create(item());
    await clock.advance(9);
    await write(container);
    await clock.advance(9);
    await everywhere(container, ['1']);
    await clock.advance(1);
    await everywhere(container, [], ['1']);
  });
}

test('writes find nothing of the dead, and its id is free', async () => {
  const container = await at.make({ defaultTtl: 10 });
  const before = (await container.items.create(item())).resource;
  const dead = container.item('1', 'a');
  await clock.advance(10);
  for (const options of [{}, { accessCondition: { type: 'IfMatch', condition: before._etag } }]) {
    await refused(dead.replace(item('1', { n: 2 }), options), 404, texts.itemNotFound);
    await refused(
      dead.patch([{ op: 'set', path: '/n', value: 2 }], options),
      404,
      texts.itemNotFound,
    );
    await refused(dead.delete(options), 404, texts.itemNotFound);
  }
  const made = await container.items.upsert(item('1', { again: true }));
  assert.equal(made.statusCode, 201);
  assert.notEqual(made.resource._rid, before._rid);
  assert.notEqual(made.resource._etag, before._etag);
  await everywhere(container, ['1']);
  await clock.advance(10);
  assert.equal((await container.items.create(item())).statusCode, 201);
});

test('a unique key of the dead is free', async () => {
  const container = await at.make({
    defaultTtl: 10,
    uniqueKeyPolicy: { uniqueKeys: [{ paths: ['/mail'] }] },
  });
  await container.items.create(item('1', { mail: 'x' }));
  await clock.advance(9);
  await refused(container.items.create(item('2', { mail: 'x' })), 409, texts.uniqueViolation);
  await clock.advance(1);
  await container.items.create(item('2', { mail: 'x' }));
  await everywhere(container, ['2'], ['1']);
});

test('setting and removing ttl by patch', async () => {
  const container = await at.make({ defaultTtl: 10 });
  const patch = (operation) => container.item('1', 'a').patch([operation]);
  await container.items.create(item());
  await patch({ op: 'add', path: '/ttl', value: 100 });
  await clock.advance(99);
  await patch({ op: 'set', path: '/ttl', value: -1 });
  await clock.advance(1_000_000);
  await patch({ op: 'remove', path: '/ttl' });
  await clock.advance(9);
  await everywhere(container, ['1']);
  await clock.advance(1);
  await everywhere(container, [], ['1']);
});

test('turning it on applies to items that are there, by their _ts', async () => {
  const container = await at.make();
  await container.items.create(item('old'));
  await clock.advance(10);
  await container.items.create(item('young'));
  await redefine(container, { defaultTtl: 10 });
  await everywhere(container, ['young'], ['old']);
});

test('turning it off keeps the living and brings nothing back', async () => {
  const container = await at.make({ defaultTtl: 10 });
  await container.items.create(item('dead'));
  await clock.advance(10);
  await container.items.create(item('later'));
  await container.items.create(item('explicit', { ttl: 20 }));
  await redefine(container, {});
  await clock.advance(1_000_000);
  await everywhere(container, ['later', 'explicit'], ['dead']);
  await redefine(container, { defaultTtl: -1 });
  await everywhere(container, ['later'], ['dead', 'explicit']);
  await redefine(container, { defaultTtl: 5_000_000 });
  await everywhere(container, ['later'], ['dead', 'explicit']);
});

test('a shorter default kills at once and a longer one saves', async () => {
  const container = await at.make({ defaultTtl: 100 });
  await container.items.create(item('old'));
  await clock.advance(50);
  await container.items.create(item('young'));
  await redefine(container, { defaultTtl: 50 });
  await everywhere(container, ['young'], ['old']);
  await redefine(container, { defaultTtl: 1000 });
  await clock.advance(999);
  await everywhere(container, ['young'], ['old']);
  await clock.advance(1);
  await everywhere(container, [], ['young', 'old']);
});

test('the largest ttl outlives 2038', async () => {
  const container = await at.make({ defaultTtl: 10 });
  await container.items.create(item('1', { ttl: 2147483647 }));
  await clock.advance(2147483646);
  await everywhere(container, ['1']);
  await clock.advance(1);
  await everywhere(container, [], ['1']);
});
