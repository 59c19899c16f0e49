// The home page: connection strings, and the sample whose sessions expire while one watches.
import { CosmosClient } from '@azure/cosmos';
import type { Page } from '@playwright/test';
import { MongoClient } from 'mongodb';
import { DOORS } from '../lib/door';
import { expect, test } from '../lib/fixtures';
import { readsAgain } from '../lib/time';

/** Returns the text that a button copies, with and without the clipboard API. */
async function copied(page: Page, label: string): Promise<string> {
  const button = page.getByRole('button', { name: `Copy ${label}`, exact: true });
  await button.click();
  await expect(button).toHaveText(/Copied/);
  await expect(button).toBeFocused();
  return page.evaluate(() => navigator.clipboard.readText());
}

test('connection strings work as they stand', async ({ page, server, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.goto('/');
  const uri = await copied(page, 'MongoDB connection string');
  const client = await new MongoClient(uri).connect();
  await client
    .db('app')
    .collection<{ _id: string }>('log')
    .insertOne({ _id: 'by the copied string' });
  await client.close();
  expect(await (await server.mongo()).db('app').collection('log').countDocuments()).toBe(1);
  const cosmos = new CosmosClient(await copied(page, 'NoSQL connection string'));
  await cosmos.databases.create({ id: 'app' });
  expect((await server.cosmos.database('app').read()).resource?.id).toBe('app');

  // Pages loaded over plain http from another host have no clipboard API.
  await page.evaluate(() => {
    navigator.clipboard.writeText = () => Promise.reject(new Error('not here'));
  });
  expect(await copied(page, 'NoSQL endpoint')).toBe(`http://${server.ready.cosmos}/`);

  for (const platform of ['mongosh', 'Python', 'Node', 'Java', 'Go', 'Rust', 'C#']) {
    await page.getByRole('tab', { name: new RegExp(`^${platform.replace('#', '\\#')}`) }).click();
    await expect(page.getByRole('tabpanel').last()).toContainText(/127\.0\.0\.1|localhost/);
  }
});

test('the sample dies within a minute', async ({ page, server }) => {
  await page.goto('/');
  await page.getByRole('button', { name: 'Load sample data' }).click();
  const collection = (await server.mongo()).db('quickstart').collection('sessions');
  await expect.poll(() => collection.countDocuments()).toBeGreaterThan(10);
  const born = await collection.countDocuments();
  await server.advance(30);
  const half = await collection.countDocuments();
  expect(half).toBeLessThan(born);
  await expect(page.getByText(new RegExp(`\\b${half} of ${born}\\b`)).first()).toBeVisible();
  await server.advance(31);
  const left = await collection.countDocuments();
  expect(left).toBe(await collection.countDocuments({ ttl: -1 }));
  const container = server.cosmos.database('quickstart').container('sessions');
  const { resources } = await container.items.query('SELECT VALUE COUNT(1) FROM c').fetchAll();
  expect(resources).toEqual([left]);
});

test('what was just done is seen at once', async ({ page, server }) => {
  await page.clock.install();
  for (const door of DOORS) {
    await door.create(server, 60);
    for (const id of ['one', 'two']) await door.put(server, id, {});
  }
  const tree = page.getByRole('tree');
  const remove = async (name: string) => {
    await tree.getByRole('treeitem', { name }).click({ button: 'right' });
    await page.getByRole('menuitem', { name: 'Delete database' }).click();
    await page.getByRole('dialog').getByRole('textbox').fill('app');
    await readsAgain(page, () =>
      page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click(),
    );
    await expect(page.getByRole('dialog')).toHaveCount(0);
  };
  const figure = (name: string) => page.locator('.home-figure').filter({ hasText: name });
  await page.goto('/');
  await expect(figure('Live documents')).toContainText('4');
  await remove('app NoSQL');
  await expect(figure('Live documents').getByRole('strong')).toHaveText('2');
  await page.goto('/monitor');
  const collections = page.locator('.figure').filter({ hasText: 'Collections and containers' });
  await expect(collections).toContainText('1');
  await remove('app MongoDB');
  await expect(collections.locator('dd')).toContainText('0');
});
