// Operations on a whole collection: rename, empty, duplicate. Each is started from another place:
// the tree's menu, the database's list, the palette.
import type { Page } from '@playwright/test';
import { Decimal128, Long } from 'mongodb';
import { collection, container, DOORS, mongo, nosql } from '../lib/door';
import { expect, test } from '../lib/fixtures';
import { innocent } from '../lib/innocent';
import { KEYED, READER, signIn } from '../lib/login';

const dialog = (page: Page) => page.getByRole('dialog');

async function chooseInTree(page: Page, name: string, item: string) {
  const line = page.getByRole('treeitem', { level: 2, name, exact: true });
  await line.click({ button: 'right' });
  await page.getByRole('menuitem', { name: item, exact: true }).click();
}

async function chooseInPalette(page: Page, typed: string, label: string) {
  await expect(page.getByRole('treeitem').first()).toBeVisible();
  await page.keyboard.press('Control+k');
  await expect(page.getByRole('combobox', { name: /^Find/ })).toBeFocused();
  await page.keyboard.type(typed);
  await page.getByRole('option', { name: label }).first().click();
}

test('a collection gets another name, and a page about it follows', async ({ page, server }) => {
  await mongo.create(server, 60);
  await mongo.put(server, 'one', {});
  const database = (await server.mongo()).db('app');
  await database.createCollection('taken');
  await page.goto('/mongo/app/log/schema');
  await chooseInTree(page, 'log', 'Rename…');
  const name = dialog(page).getByLabel('New name');
  await expect(name).toBeFocused();
  await expect(name).toHaveValue('log');
  await innocent(page, 'rename');
  await name.fill('taken');
  await dialog(page).getByRole('button', { name: 'Rename' }).click();
  await expect(dialog(page).getByRole('alert')).toContainText('exists');
  await name.fill('journal');
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/\/mongo\/app\/journal\/schema$/);
  await expect(page.getByText('Renamed log to journal').first()).toBeVisible();
  const lines = page.getByRole('treeitem', { level: 2 });
  await expect(lines).toHaveText([/^journal/, /^taken/]);
  const found = await database.collection('journal').find().toArray();
  expect(found.map(({ _id }) => String(_id))).toEqual(['one']);
  expect(await database.collection('taken').countDocuments()).toBe(0);
  const ttl = (await database.collection('journal').indexes()).find(({ key }) => '_ts' in key);
  expect(ttl?.expireAfterSeconds).toBe(60);
});

test('a container keeps its id: there is no Rename', async ({ page, server }) => {
  await nosql.create(server, null);
  await page.goto('/nosql/app');
  await page.getByRole('button', { name: 'Actions for log' }).click();
  await expect(page.getByRole('menuitem')).toHaveText(['Duplicate…', 'Empty…', 'Delete container']);
});

for (const door of DOORS) {
  test(`${door.name}: everything is deleted once the name was typed, and the settings stay`, async ({
    page,
    server,
  }) => {
    await door.create(server, 3600);
    for (let at = 0; at < 130; at += 1) await door.put(server, `i${at}`, { at });
    await page.goto(`/${door.name}/app`);
    await page.getByRole('button', { name: 'Actions for log' }).click();
    await page.getByRole('menuitem', { name: 'Empty…' }).click();
    await expect(dialog(page)).toContainText(`130 ${door.noun}s`);
    const red = dialog(page).getByRole('button', { name: `Delete all ${door.noun}s` });
    await expect(red).toBeDisabled();
    await innocent(page, 'empty');
    await dialog(page).getByRole('textbox').fill('log');
    await red.click();
    await expect(page.getByText(`Deleted 130 ${door.noun}s of log`).first()).toBeVisible();
    await expect(dialog(page)).toHaveCount(0);
    expect(await door.ids(server)).toEqual([]);
    const row = page.getByRole('row').filter({ hasText: 'log' });
    await expect(row.getByRole('cell').nth(1)).toHaveText('1 hour');
    await expect(row.getByRole('cell').nth(2)).toHaveText('0');
  });

  test(`${door.name}: a list that is shown is empty at once`, async ({ page, server }) => {
    await door.create(server, null);
    await door.put(server, 'one', {});
    await page.goto(`/${door.name}/app/log/items`);
    await expect(page.getByText(`1 ${door.noun} loaded`)).toBeVisible();
    await chooseInPalette(page, 'empty', 'Empty…');
    await dialog(page).getByRole('textbox').fill('log');
    await page.keyboard.press('Enter');
    await expect(page.getByText(`Deleted 1 ${door.noun} of log`).first()).toBeVisible();
    await expect(page.getByText(`0 ${door.noun}s loaded`)).toBeVisible();
  });
}

test('a copy of a collection has its documents, indexes and Time to live; times left begin anew', async ({
  page,
  server,
}) => {
  await mongo.create(server, 3600);
  const log = await collection(server);
  await log.createIndex({ mail: 1 }, { unique: true, name: 'by mail', sparse: true });
  await log.createIndex({ at: 1 }, { expireAfterSeconds: 86_400 });
  const many = Array.from({ length: 1200 }, (_, at) => ({ _id: `i${at}`, mail: `m${at}` }));
  await log.insertMany(many);
  const odd = {
    _id: 'odd',
    long: Long.fromString('9007199254740993'),
    amount: Decimal128.fromString('1.10'),
    at: new Date('2031-01-01T00:00:00Z'),
    ttl: -1,
  };
  await log.insertOne(odd as never);
  await server.advance(600);
  await page.goto('/mongo/app/log/items');
  await chooseInPalette(page, 'duplicate', 'Duplicate…');
  await expect(dialog(page)).toContainText('1,201 documents');
  await expect(dialog(page)).toContainText('Time to live stays “1 hour”');
  await expect(dialog(page)).toContainText('countdowns restart');
  await innocent(page, 'duplicate');
  const name = dialog(page).getByLabel('Name of the copy');
  await expect(name).toHaveValue('log-copy');
  await name.fill('log');
  await page.keyboard.press('Enter');
  await expect(dialog(page)).toContainText('The copy needs a different name.');
  await name.fill('second');
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/\/mongo\/app\/second\/items/);
  const said = 'Copied 1,201 documents in the new collection second';
  await expect(page.getByText(said).first()).toBeVisible();
  const copy = (await server.mongo()).db('app').collection('second');
  expect(await copy.countDocuments()).toBe(1201);
  const raw = { promoteValues: false, promoteLongs: false } as const;
  expect(await copy.findOne({ _id: 'odd' as never }, raw)).toEqual(
    await log.findOne({ _id: 'odd' }, raw),
  );
  expect(await copy.indexes()).toEqual(await log.indexes());
  // Ten minutes of the hour had passed.
  await server.advance(3001);
  expect(await log.countDocuments()).toBe(1);
  expect(await copy.countDocuments()).toBe(1201);
});

test('a copy of a container has its settings and items', async ({ page, server }) => {
  const { database } = await server.cosmos.databases.create({ id: 'app' });
  await database.containers.create(
    {
      id: 'log',
      partitionKey: { paths: ['/tenant', '/user'], kind: 'MultiHash', version: 2 } as never,
      defaultTtl: 3600,
      uniqueKeyPolicy: { uniqueKeys: [{ paths: ['/mail'] }] },
      indexingPolicy: { includedPaths: [{ path: '/*' }], excludedPaths: [{ path: '/big/*' }] },
    },
    { offerThroughput: 700 },
  );
  for (let at = 0; at < 120; at += 1) {
    await container(server).items.create({
      id: `i${at}`,
      tenant: 't',
      user: `u${at % 3}`,
      mail: at,
      at,
    });
  }
  await container(server).items.create({ id: 'odd', tenant: null, ttl: -1, n: 1e21 });
  await page.goto('/nosql/app/log/items');
  await chooseInTree(page, 'log', 'Duplicate…');
  await expect(dialog(page)).toContainText('121 items');
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/\/nosql\/app\/log-copy\/items/);
  const said = 'Copied 121 items in the new container log-copy';
  await expect(page.getByText(said).first()).toBeVisible();
  const copy = database.container('log-copy');
  const settings = async (one: typeof copy) => {
    const { resource } = await one.read();
    const { partitionKey, defaultTtl, uniqueKeyPolicy, indexingPolicy } = resource ?? {};
    return { partitionKey, defaultTtl, uniqueKeyPolicy, indexingPolicy };
  };
  expect(await settings(copy)).toEqual(await settings(container(server)));
  const offer = await copy.readOffer();
  expect(offer.resource?.content?.offerThroughput).toBe(700);
  const text = 'SELECT c.id, c.tenant, c.user, c.ttl, c.n, c.at FROM c ORDER BY c.id';
  const items = async (one: typeof copy) => (await one.items.query(text).fetchAll()).resources;
  expect(await items(copy)).toEqual(await items(container(server)));
});

test.describe('with a key that only reads', () => {
  test.use({ options: KEYED });
  test('nothing of it can be chosen', async ({ page, server }) => {
    await nosql.create(server, null);
    await page.goto('/');
    await signIn(page, READER);
    await page.getByRole('treeitem', { name: /^app/ }).click();
    await page.getByRole('button', { name: 'Actions for log' }).click();
    for (const name of ['Duplicate…', 'Empty…', 'Delete container']) {
      const item = page.getByRole('menuitem', { name, exact: true });
      await expect(item).toHaveAttribute('aria-disabled', 'true');
      await expect(item).toHaveAttribute('title', 'Read-only session.');
    }
  });
});
