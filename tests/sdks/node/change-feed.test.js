// The change feed: latest versions, and all versions with deletes and deaths.
'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const {
  ChangeFeedMode,
  ChangeFeedPolicy,
  ChangeFeedRetentionTimeSpan,
  ChangeFeedStartFrom,
} = require('@azure/cosmos');
const { setup, connect, refused, clock, texts } = require('./setup');

const at = setup();

/** Reads until there is nothing new: what was found, and where it goes on. */
async function changes(container, changeFeedStartFrom, options = {}) {
  const iterator = container.items.getChangeFeedIterator({ changeFeedStartFrom, ...options });
  const found = [];
  for (;;) {
    const page = await iterator.readNext();
    if (page.statusCode === 304) return { found, token: page.continuationToken };
    found.push(...page.result);
  }
}

const { Beginning, Now, Time, Continuation } = ChangeFeedStartFrom;
const names = (found) => found.map((item) => item.id);

test('from the beginning in the order of changes, then on', async () => {
  const container = await at.make();
  for (const id of ['1', '2', '3']) await container.items.create({ id, pk: id });
  await container.items.upsert({ id: '1', pk: '1', n: 2 });
  await container.item('2', '2').delete();
  const { found, token } = await changes(container, Beginning());
  assert.deepEqual(names(found), ['3', '1']);
  assert.equal(found[1].n, 2);
  assert.ok(found[0]._lsn < found[1]._lsn);
  assert.deepEqual((await changes(container, Continuation(token))).found, []);
  await container.items.create({ id: '4', pk: '4' });
  assert.deepEqual(names((await changes(container, Continuation(token))).found), ['4']);
  const other = connect().database(at.db.id).container(container.id);
  assert.deepEqual(names((await changes(other, Continuation(token))).found), ['4']);
});

test('one iterator goes on', async () => {
  const container = await at.make();
  const iterator = container.items.getChangeFeedIterator({ changeFeedStartFrom: Beginning() });
  assert.equal((await iterator.readNext()).statusCode, 304);
  await container.items.create({ id: '1', pk: 'a' });
  assert.deepEqual(names((await iterator.readNext()).result), ['1']);
  assert.equal((await iterator.readNext()).statusCode, 304);
});

test('from now', async () => {
  const container = await at.make();
  await container.items.create({ id: '1', pk: 'a' });
  const { found, token } = await changes(container, Now());
  assert.deepEqual(found, []);
  await container.items.create({ id: '2', pk: 'a' });
  assert.deepEqual(names((await changes(container, Continuation(token))).found), ['2']);
});

test('from a time', async () => {
  const container = await at.make();
  await container.items.create({ id: '1', pk: 'a' });
  await clock.advance(10);
  await container.items.create({ id: '2', pk: 'a' });
  const now = await clock.now();
  assert.deepEqual(names((await changes(container, Time(new Date((now - 5) * 1000)))).found), [
    '2',
  ]);
  assert.deepEqual(names((await changes(container, Time(new Date((now - 60) * 1000)))).found), [
    '1',
    '2',
  ]);
});

test('of a partition key and of a feed range', async () => {
  const container = await at.make();
  for (let n = 0; n < 6; n += 1) await container.items.create({ id: `${n}`, pk: 'ab'[n % 2] });
  const { found, token } = await changes(container, Beginning('b'));
  assert.deepEqual(names(found), ['1', '3', '5']);
  await container.items.create({ id: 'other', pk: 'a' });
  await container.items.create({ id: 'mine', pk: 'b' });
  assert.deepEqual(names((await changes(container, Continuation(token))).found), ['mine']);
  const [range] = await container.getFeedRanges();
  assert.equal((await changes(container, Beginning(range))).found.length, 8);
});

test('in pages', async () => {
  const container = await at.make();
  for (let n = 0; n < 7; n += 1) await container.items.create({ id: `${n}`, pk: `${n}` });
  const iterator = container.items.getChangeFeedIterator({
    changeFeedStartFrom: Beginning(),
    maxItemCount: 3,
  });
  const pages = [];
  for (
    let page = await iterator.readNext();
    page.statusCode !== 304;
    page = await iterator.readNext()
  ) {
    pages.push(names(page.result));
  }
  assert.deepEqual(pages, [['0', '1', '2'], ['3', '4', '5'], ['6']]);
});

test('the older iterator', async () => {
  const container = await at.make();
  await container.items.create({ id: '1', pk: 'a' });
  const page = await container.items.changeFeed('a', { startFromBeginning: true }).fetchNext();
  assert.deepEqual(names(page.result), ['1']);
});

test('the dead are never shown', async () => {
  const container = await at.make({ defaultTtl: 10 });
  await container.items.create({ id: 'dies', pk: 'a' });
  await container.items.create({ id: 'stays', pk: 'a', ttl: -1 });
  const { token } = await changes(container, Now());
  await container.items.create({ id: 'dies too', pk: 'a' });
  await clock.advance(9);
  assert.deepEqual(names((await changes(container, Beginning())).found), [
    'dies',
    'stays',
    'dies too',
  ]);
  await clock.advance(1);
  assert.deepEqual(names((await changes(container, Beginning())).found), ['stays']);
  assert.deepEqual((await changes(container, Continuation(token))).found, []);
});

const all = { changeFeedMode: ChangeFeedMode.AllVersionsAndDeletes };
const changeFeedPolicy = new ChangeFeedPolicy(ChangeFeedRetentionTimeSpan.fromMinutes(10));
const kinds = (found) => found.map((entry) => entry.metadata.operationType);

test('all versions and deletes', async () => {
  const container = await at.make({ changeFeedPolicy });
  const { token } = await changes(container, Now(), all);
  await container.items.create({ id: '1', pk: 'a', n: 1 });
  await container.item('1', 'a').replace({ id: '1', pk: 'a', n: 2 });
  await container.item('1', 'a').delete();
  const { found } = await changes(container, Continuation(token), all);
  assert.deepEqual(kinds(found), ['create', 'replace', 'delete']);
  assert.deepEqual(
    found.map((entry) => entry.current.n),
    [1, 2, undefined],
  );
  assert.deepEqual(found[2].current, {});
  assert.equal(found[2].metadata.id, '1');
  assert.deepEqual(found[2].metadata.partitionKey, { pk: 'a' });
  assert.ok(!found[2].metadata.timeToLiveExpired);
});

test('a death is told once, at its instant', async () => {
  const container = await at.make({ changeFeedPolicy, defaultTtl: -1 });
  const begin = (await changes(container, Now(), all)).token;
  const { _ts: born } = (await container.items.create({ id: '1', pk: 'a', ttl: 10 })).resource;
  await container.items.create({ id: '2', pk: 'a', ttl: 5 });
  await clock.advance(4);
  const { found: births, token } = await changes(container, Continuation(begin), all);
  assert.deepEqual(kinds(births), ['create', 'create']);
  await clock.advance(1000);
  const { found: deaths, token: end } = await changes(container, Continuation(token), all);
  assert.deepEqual(kinds(deaths), ['delete', 'delete']);
  assert.deepEqual(
    deaths.map((entry) => entry.metadata.id),
    ['2', '1'],
  );
  assert.deepEqual(
    deaths.map((entry) => entry.metadata.timeToLiveExpired),
    [true, true],
  );
  assert.deepEqual(
    deaths.map((entry) => entry.metadata.crts),
    [born + 5, born + 10],
  );
  assert.deepEqual((await changes(container, Continuation(end), all)).found, []);
});

test('all versions are kept unless a policy says no, and cannot start at the beginning', async () => {
  const none = new ChangeFeedPolicy(ChangeFeedRetentionTimeSpan.fromMinutes(0));
  const without = await at.make({ changeFeedPolicy: none });
  await refused(changes(without, Now(), all), 400, texts.allVersionsOff);
  const container = await at.make();
  await assert.rejects(changes(container, Beginning(), all), (error) => {
    // The SDK may refuse it before the server does.
    assert.ok(error.code === undefined || error.code === 400, error.message);
    return true;
  });
});
