// Transactional batches, and operations in bulk.
'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { setup, bare, ids, query, clock, refused } = require('./setup');

const at = setup();
const create = (id, more = {}) => ({
  operationType: 'Create',
  resourceBody: { id, pk: 'a', ...more },
});
const codes = (answers) => answers.map((answer) => answer.statusCode);
const everything = async (container) => ids((await container.items.readAll().fetchAll()).resources);

test('every operation', async () => {
  const container = await at.make();
  for (const id of ['read', 'replaced', 'patched', 'deleted'])
    await container.items.create({ id, pk: 'a', n: 1 });
  const { result, code } = await container.items.batch(
    [
      create('created'),
      { operationType: 'Upsert', resourceBody: { id: 'upserted', pk: 'a' } },
      { operationType: 'Read', id: 'read' },
      { operationType: 'Replace', id: 'replaced', resourceBody: { id: 'replaced', pk: 'a', n: 2 } },
      {
        operationType: 'Patch',
        id: 'patched',
        resourceBody: {
          condition: 'from c where c.n = 1',
          operations: [{ op: 'incr', path: '/n', value: 5 }],
        },
      },
      { operationType: 'Delete', id: 'deleted' },
    ],
    'a',
  );
  assert.equal(code, 200);
  assert.deepEqual(codes(result), [201, 201, 200, 200, 200, 204]);
  assert.deepEqual(bare(result[2].resourceBody), { id: 'read', pk: 'a', n: 1 });
  assert.equal(result[3].eTag, (await container.item('replaced', 'a').read()).etag);
  assert.ok(result.every((answer) => answer.requestCharge > 0));
  assert.equal((await container.item('patched', 'a').read()).resource.n, 6);
  assert.deepEqual(await everything(container), [
    'created',
    'patched',
    'read',
    'replaced',
    'upserted',
  ]);
});

const failures = {
  'a conflict': [create('old'), 409],
  'a missing item': [{ operationType: 'Read', id: 'none' }, 404],
  'nothing to delete': [{ operationType: 'Delete', id: 'none' }, 404],
  'an old etag': [
    { operationType: 'Replace', id: 'old', ifMatch: '"no"', resourceBody: { id: 'old', pk: 'a' } },
    412,
  ],
  'a bad ttl': [create('2', { ttl: 0 }), 400],
};

for (const [name, [operation, status]] of Object.entries(failures)) {
  test(`one failure undoes all: ${name}`, async () => {
    const container = await at.make({ defaultTtl: -1 });
    await container.items.create({ id: 'old', pk: 'a' });
    const { result, code } = await container.items.batch(
      [create('first'), operation, create('last')],
      'a',
    );
    assert.equal(code, 207);
    assert.deepEqual(codes(result), [424, status, 424]);
    assert.deepEqual(await everything(container), ['old']);
  });
}

test('answers without the items', async () => {
  const container = await at.make();
  const { result } = await container.items.batch([create('1')], 'a', {
    contentResponseOnWriteEnabled: false,
  });
  assert.deepEqual(codes(result), [201]);
  assert.equal(result[0].resourceBody, undefined);
});

test('a dead item is not there', async () => {
  const container = await at.make({ defaultTtl: 10 });
  await container.items.create({ id: '1', pk: 'a' });
  await clock.advance(10);
  const { result } = await container.items.batch(
    [create('2'), { operationType: 'Read', id: '1' }],
    'a',
  );
  assert.deepEqual(codes(result), [424, 404]);
  assert.deepEqual(codes((await container.items.batch([create('1')], 'a')).result), [201]);
});

test('an item of another partition is refused', async () => {
  const container = await at.make();
  const batch = container.items.batch([create('1'), create('2', { pk: 'b' })], 'a');
  await batch.then(
    ({ result }) => assert.deepEqual(codes(result), [424, 400]),
    (error) => assert.match(error.message, /./),
  );
  assert.deepEqual(await everything(container), []);
});

test('bulk: each operation for itself', async () => {
  const container = await at.make();
  await container.items.create({ id: 'old', pk: 'a', n: 1 });
  const answers = await container.items.bulk(
    [
      create('1'),
      { operationType: 'Create', resourceBody: { id: '1', pk: 'b' } },
      create('old'),
      { operationType: 'Upsert', resourceBody: { id: '2', pk: 5 } },
      { operationType: 'Read', id: 'old', partitionKey: 'a' },
      { operationType: 'Read', id: 'none', partitionKey: 'a' },
      {
        operationType: 'Patch',
        id: 'old',
        partitionKey: 'a',
        resourceBody: { operations: [{ op: 'incr', path: '/n', value: 1 }] },
      },
      { operationType: 'Delete', id: '1', partitionKey: 'b' },
    ],
    { continueOnError: true },
  );
  assert.deepEqual(codes(answers), [201, 201, 409, 201, 200, 404, 200, 204]);
  assert.equal(answers[4].resourceBody.id, 'old');
  assert.deepEqual(await everything(container), ['1', '2', 'old']);
  assert.equal((await container.item('old', 'a').read()).resource.n, 2);
});

test('bulk: missing and hierarchical partition keys', async () => {
  const container = await at.make();
  const answers = await container.items.bulk([
    { operationType: 'Create', resourceBody: { id: '1' } },
    { operationType: 'Create', resourceBody: { id: '1', pk: null } },
  ]);
  assert.deepEqual(codes(answers), [201, 201]);
  assert.equal((await container.item('1', null).read()).resource.pk, null);
  const tree = await at.make({
    partitionKey: { paths: ['/t', '/u'], kind: 'MultiHash', version: 2 },
  });
  const more = await tree.items.bulk([
    { operationType: 'Create', resourceBody: { id: '1', t: 'a', u: 1 } },
    { operationType: 'Create', resourceBody: { id: '1', t: 'a', u: 2 } },
  ]);
  assert.deepEqual(codes(more), [201, 201]);
  assert.equal((await tree.item('1', ['a', 2]).read()).resource.u, 2);
});

test('bulk: many operations', async () => {
  const container = await at.make();
  const operations = [...Array(250).keys()].map((n) => ({
    operationType: 'Create',
    resourceBody: { id: `${n}`, pk: `${n % 7}` },
    partitionKey: `${n % 7}`,
  }));
  const results = await container.items.executeBulkOperations(operations);
  assert.equal(results.length, 250);
  assert.ok(
    results.every(({ response, error }) => error === undefined && response.statusCode === 201),
  );
  assert.deepEqual(await query(container, 'SELECT VALUE COUNT(1) FROM c'), [250]);
  const again = await container.items.executeBulkOperations(operations.slice(0, 3));
  assert.deepEqual(
    again.map(({ error, response }) => error?.code ?? response.statusCode),
    [409, 409, 409],
  );
});

test('bulk: a bad ttl fails alone', async () => {
  const container = await at.make({ defaultTtl: 10 });
  const answers = await container.items.bulk([create('1', { ttl: 0 }), create('2', { ttl: 5 })], {
    continueOnError: true,
  });
  assert.deepEqual(codes(answers), [400, 201]);
  await clock.advance(5);
  assert.deepEqual(await everything(container), []);
  await refused(container.item('2', 'a').delete(), 404);
});
