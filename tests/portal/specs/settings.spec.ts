// Settings besides the default TTL: indexing policy, throughput and change feed of a container, TTL
// indexes of a collection, and conflicts with other users.
import type { Page } from '@playwright/test';
import { collection, container, mongo, nosql } from '../lib/door';
import { expect, test } from '../lib/fixtures';
import { innocent } from '../lib/innocent';
import { write } from '../lib/items';
import { chooseTtl, noted, save } from '../lib/pane';
import type { Server } from '../lib/server';

const section = (page: Page, name: string) =>
  page.getByRole('tab', { name: new RegExp(`^${name}`) }).click();
const saveButton = (page: Page) => page.getByRole('button', { name: 'Save', exact: true });
const policy = (page: Page) => page.getByRole('textbox', { name: /^Indexing policy/ });

const NONE = '{"indexingMode":"none","automatic":false,"includedPaths":[],"excludedPaths":[]}';
const PICKED =
  '{"indexingMode":"consistent","automatic":true,"includedPaths":[{"path":"/user/?"}],"excludedPaths":[{"path":"/*"}]}';

async function record(server: Server) {
  const { resource } = await container(server).read();
  return resource as unknown as Record<string, unknown>;
}

async function open(page: Page, server: Server) {
  const { database } = await server.cosmos.databases.create({ id: 'app' });
  const definition = { id: 'log', partitionKey: { paths: ['/id'] }, throughput: 400 };
  await database.containers.create(definition);
  await page.goto('/nosql/app/log/settings');
  await expect(page.getByRole('radio', { name: 'Off', exact: true })).toBeChecked();
}

test('indexing policy, and that none excludes a time to live', async ({ page, server }) => {
  await open(page, server);
  await section(page, 'Indexing policy');
  await write(page, policy(page), '{ "indexingMode": ');
  await expect(page.getByText(/this is not JSON/)).toBeVisible();
  await expect(saveButton(page)).toBeDisabled();
  await write(page, policy(page), PICKED);
  await save(page, 'Successfully updated container log');
  expect(await record(server)).toMatchObject({
    indexingPolicy: { includedPaths: [{ path: '/user/?' }] },
  });

  await write(page, policy(page), NONE);
  await section(page, 'Time to live');
  await chooseTtl(page, 'On', '100');
  const conflict = page.getByText(/Indexing mode “none” and a time to live exclude each other/);
  await expect(conflict).toBeVisible();
  await expect(saveButton(page)).toBeDisabled();
  await section(page, 'Indexing policy');
  await expect(conflict).toBeVisible();
  expect(await record(server)).toMatchObject({ indexingPolicy: { indexingMode: 'consistent' } });
  await section(page, 'Time to live');
  await chooseTtl(page, 'Off');
  await expect(conflict).toHaveCount(0);
  await save(page, 'Successfully updated container log');
  expect(await record(server)).toMatchObject({ indexingPolicy: { indexingMode: 'none' } });

  // Vice versa: with mode none, enabling TTL requires an index.
  await chooseTtl(page, 'On (no default)');
  await expect(conflict).toBeVisible();
  await section(page, 'Indexing policy');
  await page.getByRole('button', { name: 'Reset to default' }).click();
  await expect(conflict).toHaveCount(0);
  await save(page, 'Successfully updated container log');
  expect(await record(server)).toMatchObject({
    defaultTtl: -1,
    indexingPolicy: { indexingMode: 'consistent' },
  });
});

test('throughput and change feed', async ({ page, server }) => {
  await open(page, server);
  const offer = async () => (await container(server).readOffer()).resource?.content;
  await section(page, 'Throughput');
  const units = page.getByLabel(/request units per second \(RU\/s\)/i);
  await expect(units).toHaveValue('400');
  for (const [text, said] of [
    ['300', /too low/],
    ['450', /multiple of 100/],
    ['x', /whole number/],
  ] as const) {
    await units.fill(text);
    await expect(page.getByRole('alert').filter({ hasText: said })).toBeVisible();
    await expect(saveButton(page)).toBeDisabled();
  }
  await units.fill('1000');
  await section(page, 'Change feed');
  await page.getByRole('radio', { name: 'Retained', exact: true }).check();
  const minutes = page.getByLabel('Retention in minutes');
  await minutes.fill('10081');
  await expect(page.getByText(/Minutes must be from 1 to 10080/)).toBeVisible();
  await minutes.fill('90');
  await expect(page.getByText('Unsaved changes: Throughput, Change feed.')).toBeVisible();
  await save(page, 'Successfully updated container log');
  expect(await offer()).toMatchObject({ offerThroughput: 1000 });
  expect(await record(server)).toMatchObject({ changeFeedPolicy: { retentionDuration: 90 } });

  await page.getByRole('radio', { name: 'Not retained' }).check();
  await section(page, 'Throughput');
  await page.getByRole('radio', { name: 'Autoscale' }).check();
  await units.fill('4000');
  await save(page, 'Successfully updated container log');
  expect(await offer()).toMatchObject({ offerAutopilotSettings: { maxThroughput: 4000 } });
  const kept = (await record(server)).changeFeedPolicy as
    | { retentionDuration?: number }
    | undefined;
  expect(kept?.retentionDuration ?? 0).toBe(0);
  await page.reload();
  await expect(page.getByRole('radio', { name: 'Autoscale' })).toBeChecked();
  await expect(units).toHaveValue('4000');
});

test('throughput of a collection', async ({ page, server }) => {
  const db = (await server.mongo()).db('app');
  await db.createCollection('log');
  const shown = () => db.command({ customAction: 'GetCollection', collection: 'log' });
  await page.goto('/mongo/app/log/settings');
  await section(page, 'Throughput');
  await expect(page.getByText('This collection has no provisioned throughput.')).toBeVisible();
  const units = page.getByLabel(/request units per second \(RU\/s\)/i);
  const set = page.getByRole('button', { name: 'Set throughput' });
  await units.fill('450');
  await expect(page.getByRole('alert').filter({ hasText: /multiple of 100/ })).toBeVisible();
  await expect(set).toBeDisabled();
  await units.fill('500');
  await set.click();
  await expect(page.getByText(/no provisioned throughput/)).toHaveCount(0);
  await expect(set).toBeDisabled();
  expect(await shown()).toMatchObject({ provisionedThroughput: 500 });
  await page.getByRole('radio', { name: 'Autoscale' }).check();
  await units.fill('4000');
  await set.click();
  await expect(set).toBeDisabled();
  expect(await shown()).toMatchObject({ autoScaleSettings: { maxThroughput: 4000 } });
  await page.reload();
  await expect(page.getByRole('radio', { name: 'Autoscale' })).toBeChecked();
  await expect(units).toHaveValue('4000');
  await innocent(page, 'throughput of a collection');

  // Without its own, it shares the throughput of its database.
  await db.createCollection('other');
  await db.command({ customAction: 'UpdateDatabase', offerThroughput: 1000 });
  await page.goto('/mongo/app/other/settings?section=throughput');
  await expect(page.getByText('shares the throughput of the database app')).toBeVisible();
  await db.dropCollection('other');
  await set.click();
  await expect(
    page.getByText(/was deleted|does not exist|no longer exists/i).first(),
  ).toBeVisible();
});

test('a container that someone else has changed', async ({ page, server }) => {
  await open(page, server);
  const theirs = async (change: object) => {
    const { resource } = await container(server).read();
    await container(server).replace({ ...resource, ...change } as never);
  };
  const dialog = page.getByRole('dialog', { name: 'Changed by someone else' });
  await chooseTtl(page, 'On', '100');
  await theirs({ indexingPolicy: JSON.parse(PICKED) as object });
  await saveButton(page).click();
  const rows = dialog.getByRole('table', { name: 'Differences' }).getByRole('row');
  await expect(rows.filter({ hasText: 'Indexing policy' })).toContainText('/user/?');
  // Base, theirs (unchanged), and mine.
  await expect(rows.filter({ hasText: 'Time to live' })).toContainText(/OffOff.*100/);
  expect((await record(server)).defaultTtl).toBeUndefined();
  await dialog.getByRole('button', { name: 'Overwrite with mine' }).click();
  await noted(page, 'Successfully updated container log');
  // Both changes are stored.
  expect(await record(server)).toMatchObject({
    defaultTtl: 100,
    indexingPolicy: { includedPaths: [{ path: '/user/?' }] },
  });

  await chooseTtl(page, 'On', '200');
  await theirs({ defaultTtl: 300 });
  for (const _ of [1, 2]) {
    await saveButton(page).click();
    await expect(rows.filter({ hasText: 'Time to live' })).toContainText(/100.*300.*200/);
    await dialog.getByRole('button', { name: 'Keep editing' }).click();
    await expect(page.locator('#timeToLiveSeconds')).toHaveValue('200');
    expect(await record(server)).toMatchObject({ defaultTtl: 300 });
  }
  await saveButton(page).click();
  await dialog.getByRole('button', { name: 'Use theirs' }).click();
  await expect(page.locator('#timeToLiveSeconds')).toHaveValue('300');
  await expect(saveButton(page)).toBeDisabled();
  expect(await record(server)).toMatchObject({ defaultTtl: 300 });
});

test('date TTL indexes of a collection', async ({ page, server }) => {
  await mongo.create(server, null);
  const log = await collection(server);
  const { now } = (await log.db.admin().command({ ebbClock: 1 })) as { now: Date };
  const at = (seconds: number) =>
    new Date(Math.floor(now.getTime() / 1000) * 1000 + seconds * 1000);
  for (const seconds of [10, 50]) await mongo.put(server, `at ${seconds}`, { at: at(seconds) });
  const indexes = async () => {
    const found = (await log.indexes()).filter(({ key }) => key.at !== undefined);
    return found.map(({ expireAfterSeconds }) => expireAfterSeconds as number);
  };
  await page.goto('/mongo/app/log/settings?section=date-indexes');
  const dialog = page.getByRole('dialog');
  await page.getByRole('button', { name: 'New date TTL index' }).click();
  const create = dialog.getByRole('button', { name: 'Create index' });
  await dialog.locator('#dateIndexSeconds').fill('20');
  for (const wrong of ['_id', '_ts', ' ']) {
    await dialog.getByLabel('Field').fill(wrong);
    await expect(create).toBeDisabled();
  }
  // Errors that only the server finds.
  await dialog.getByLabel('Field').fill('$at');
  await expect(dialog.getByRole('status')).toContainText('could not be calculated');
  const name = dialog.getByLabel(/^Type the name of the collection/);
  await name.fill('log');
  await create.click();
  await expect(dialog.getByRole('alert')).toContainText('illegal field name');
  await dialog.getByLabel('Field').fill('at');
  await create.click();
  await noted(page, 'Successfully created index at_1');
  expect(await indexes()).toEqual([20]);
  const line = page.getByRole('row').filter({ has: page.getByRole('rowheader', { name: 'at_1' }) });
  await expect(line).toContainText('20 s');
  await server.advance(29);
  expect(await mongo.ids(server)).toEqual(['at 10', 'at 50']);
  await server.advance(1);
  expect(await mongo.ids(server)).toEqual(['at 50']);

  await page.getByRole('button', { name: 'Edit retention of at_1' }).click();
  // A typed number keeps its digits in another unit; an untouched one is converted.
  const time = dialog.locator('#dateIndexSeconds');
  const unit = dialog.getByRole('combobox', { name: 'Unit' });
  await time.fill('2');
  await unit.selectOption('minute');
  await expect(time).toHaveValue('2');
  await dialog.getByRole('button', { name: 'Change', exact: true }).click();
  await noted(page, 'Successfully changed index at_1');
  expect(await indexes()).toEqual([120]);
  await page.getByRole('button', { name: 'Edit retention of at_1' }).click();
  await expect(time).toHaveValue('120');
  await unit.selectOption('minute');
  await expect(time).toHaveValue('2');
  await page.keyboard.press('Escape');
  await server.advance(60);
  expect(await mongo.ids(server)).toEqual(['at 50']);

  // A concurrent creation of the same index: the input is kept.
  await log.createIndex({ until: 1 });
  await page.getByRole('button', { name: 'New date TTL index' }).click();
  await dialog.getByLabel('Field').fill('until');
  await dialog.locator('#dateIndexSeconds').fill('5');
  await create.click();
  await expect(dialog.getByRole('alert')).toBeVisible();
  await expect(dialog.getByLabel('Field')).toHaveValue('until');
  await dialog.getByRole('button', { name: 'Cancel' }).click();

  await page.getByRole('button', { name: 'Drop at_1' }).click();
  await dialog.getByRole('button', { name: 'Drop index' }).click();
  await noted(page, 'Successfully dropped index at_1');
  expect(await indexes()).toEqual([]);
  await server.advance(1000);
  expect(await mongo.ids(server)).toEqual(['at 50']);
  await section(page, 'Indexes');
  await expect(page.getByRole('rowheader', { name: 'until_1' })).toBeVisible();
  await expect(page.getByRole('rowheader', { name: 'at_1' })).toHaveCount(0);
});

test('a date TTL index says how many it makes expire, and asks before', async ({
  page,
  server,
}) => {
  await mongo.create(server, null);
  const log = await collection(server);
  const past = new Date('2020-01-01');
  const others = { at: [new Date('2999-01-01'), past] };
  for (const [id, fields] of [
    ['past', { at: past }],
    ['earliest', others],
    ['later', { at: new Date('2999-01-01') }],
    ['none', {}],
  ] as const)
    await mongo.put(server, id, fields);
  await page.goto('/mongo/app/log/settings?section=date-indexes');
  const dialog = page.getByRole('dialog');
  await page.getByRole('button', { name: 'New date TTL index' }).click();
  await dialog.getByLabel('Field').fill('at');
  await dialog.locator('#dateIndexSeconds').fill('60');
  await expect(dialog.getByRole('status')).toHaveText(
    '2 documents are past this deadline and will expire immediately.',
  );
  const create = dialog.getByRole('button', { name: 'Create index and expire 2 documents' });
  await expect(create).toBeDisabled();
  await dialog.getByLabel(/^Type the name of the collection, log/).fill('lo');
  await expect(create).toBeDisabled();
  expect(await mongo.ids(server)).toHaveLength(4);
  await page.keyboard.press('g');
  await expect(create).toBeEnabled();
  // A confirmation is void for another number.
  await dialog.locator('#dateIndexSeconds').fill('61');
  await expect(create).toBeDisabled();
  await dialog.getByLabel(/^Type the name of the collection, log/).fill('log');
  await create.click();
  await noted(page, 'Successfully created index at_1');
  expect(await mongo.ids(server)).toEqual(['later', 'none']);

  // The same for another duration, and for an index that has further options.
  const { now } = (await log.db.admin().command({ ebbClock: 1 })) as { now: Date };
  await mongo.put(server, 'soon', { at: new Date(now.getTime() - 30_000) });
  await page.getByRole('button', { name: 'Edit retention of at_1' }).click();
  await dialog.locator('#dateIndexSeconds').fill('10');
  await expect(dialog.getByRole('status')).toHaveText(
    '1 document is past this deadline and will expire immediately.',
  );
  await page.keyboard.press('Escape');
  await section(page, 'Indexes');
  await page.getByRole('button', { name: 'New index' }).click();
  await dialog.getByRole('textbox', { name: 'Field 1' }).fill('at');
  await dialog.getByLabel('Partial filter').fill('{ _id: "later" }');
  await dialog.getByRole('checkbox', { name: /^Documents expire/ }).check();
  await dialog.locator('#indexSeconds').fill('0');
  await expect(dialog.getByRole('status')).toContainText('nothing expires immediately');
  await dialog.getByLabel('Partial filter').fill('{ _id: "soon" }');
  await expect(dialog.getByRole('status')).toContainText('1 document is past this deadline');
  await expect(dialog.getByRole('button', { name: /^Create index/ })).toBeDisabled();
});

test('a date TTL index is not made over more than was told', async ({ page, server }) => {
  await mongo.create(server, null);
  const log = (await server.mongo()).db('app').collection('log');
  const past = new Date('2001-01-01');
  await page.goto('/mongo/app/log/settings?section=date-indexes');
  const dialog = page.getByRole('dialog');
  await page.getByRole('button', { name: 'New date TTL index' }).click();
  // An untouched field shows no error.
  await expect(dialog.locator('#dateIndexSeconds')).toBeVisible();
  await expect(dialog.getByRole('alert')).toHaveCount(0);
  await dialog.getByLabel('Field').fill('at');
  await dialog.locator('#dateIndexSeconds').fill('60');
  await expect(dialog.getByRole('status')).toContainText('nothing expires immediately');
  for (const id of ['a', 'b', 'c']) await mongo.put(server, id, { at: past });
  await dialog.getByRole('button', { name: 'Create index', exact: true }).click();
  await expect(dialog.getByRole('status')).toContainText('3 documents are past this deadline');
  const create = dialog.getByRole('button', { name: 'Create index and expire 3 documents' });
  await expect(create).toBeDisabled();
  expect(await mongo.ids(server)).toHaveLength(3);
  expect((await log.indexes()).map(({ name }) => name)).not.toContain('at_1');
  // A slightly higher number than confirmed is accepted, since time passes while typing.
  await dialog.getByLabel(/^Type the name of the collection, log/).fill('log');
  await mongo.put(server, 'd', { at: past });
  await create.click();
  await noted(page, 'Successfully created index at_1');
  expect(await mongo.ids(server)).toEqual([]);
});

test('a collection that someone else has changed', async ({ page, server }) => {
  await mongo.create(server, 100);
  await page.goto('/mongo/app/log/settings');
  await chooseTtl(page, 'On', '200');
  await mongo.setDefault(server, 300);
  await saveButton(page).click();
  const dialog = page.getByRole('dialog', { name: 'Changed by someone else' });
  await expect(
    dialog.getByRole('table', { name: 'Differences' }).getByRole('row').nth(1),
  ).toContainText(/100.*300.*200/);
  await dialog.getByRole('button', { name: 'Keep editing' }).click();
  await expect(page.locator('#timeToLiveSeconds')).toHaveValue('200');
  // The next save asks again.
  await chooseTtl(page, 'On', '201');
  await saveButton(page).click();
  await expect(dialog.getByRole('table')).toContainText(/100.*300.*201/);
  await dialog.getByRole('button', { name: 'Overwrite with mine' }).click();
  await noted(page, 'Successfully updated collection log');
  const index = (await (await collection(server)).indexes()).find(
    ({ key }) => key._ts !== undefined,
  );
  expect(index?.expireAfterSeconds).toBe(201);
});

test('settings of a container that are only shown', async ({ page, server }) => {
  await nosql.create(server, null);
  const uniqueKeyPolicy = { uniqueKeys: [{ paths: ['/mail', '/name'] }] };
  const definition = {
    id: 'keys',
    partitionKey: { paths: ['/tenant', '/user'], kind: 'MultiHash', version: 2 },
    uniqueKeyPolicy,
  };
  await server.cosmos.database('app').containers.create(definition as never);
  await page.goto('/nosql/app/keys/settings?section=partition-key');
  const panel = page.locator('#settings-panel');
  await expect(panel).toContainText('/tenant');
  await expect(panel).toContainText('/user');
  await section(page, 'Unique keys');
  await expect(panel).toContainText('/mail');
  await expect(panel).toContainText('/name');
  await section(page, 'Throughput');
  await expect(panel).toContainText(/has provisioned throughput|RU\/s/);
});
