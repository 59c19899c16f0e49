// Setting the default TTL of several collections, with expirations and outcome of each.
import type { Page } from '@playwright/test';
import { expect, test } from '../lib/fixtures';
import { innocent } from '../lib/innocent';
import { KEYED, READER, signIn } from '../lib/login';
import type { Server } from '../lib/server';

const dialog = (page: Page) => page.getByRole('dialog');
const bar = (page: Page) => page.getByRole('toolbar', { name: 'Selection' });
const line = (page: Page, name: string) =>
  dialog(page)
    .getByRole('row')
    .filter({ has: page.getByRole('rowheader', { name, exact: true }) });

async function select(page: Page, names: readonly string[]) {
  for (const name of names) {
    await page.getByRole('checkbox', { name: `Select ${name}`, exact: true }).focus();
    await page.keyboard.press('Space');
  }
}

/** Two old documents in `a` and one in `b`, and only new ones in `c`. */
async function fill(server: Server) {
  const app = (await server.mongo()).db('app');
  await app.collection('a').insertMany([{ n: 1 }, { n: 2 }]);
  await app.collection('b').insertOne({ n: 1 });
  await app.collection('b').createIndex({ _ts: 1 }, { expireAfterSeconds: 86_400 });
  await server.advance(1000);
  await app.collection('c').insertOne({ n: 1 });
  await app.collection('d').insertOne({ n: 1 });
  return app;
}

test('of collections, with what disappears at once', async ({ page, server }) => {
  const app = await fill(server);
  await page.goto('/mongo/app');
  await select(page, ['a', 'b', 'c']);
  await expect(bar(page)).toContainText('3 collections selected');
  const set = bar(page).getByRole('button', { name: 'Set default TTL…' });
  await set.focus();
  await page.keyboard.press('Enter');
  const field = dialog(page).getByRole('textbox', { name: /^Time to live/ });
  await expect(field).toBeFocused();
  await page.keyboard.press('Escape');
  await expect(dialog(page)).toHaveCount(0);
  await expect(set).toBeFocused();

  await page.keyboard.press('Enter');
  await expect(field).toBeFocused();
  await field.fill('500');
  const said = '3 of 4 documents in 2 of 3 collections are already older than this and will expire';
  await expect(dialog(page).getByRole('status')).toContainText(said);
  await expect(line(page, 'a').getByRole('cell')).toHaveText(['Off', '2']);
  await expect(line(page, 'b').getByRole('cell')).toHaveText(['86400 s = 1 day', '1']);
  await expect(line(page, 'c').getByRole('cell')).toHaveText(['Off', '0']);
  await innocent(page, 'the default of several collections');
  const go = dialog(page).getByRole('button', { name: 'Set and expire documents' });
  await expect(go).toBeDisabled();
  // The number changes before the confirmation.
  await dialog(page)
    .getByLabel(/^Type the name of the database, app/)
    .fill('app');
  await app.collection<{ n: number }>('a').deleteOne({ n: 2 });
  await go.click();
  await expect(dialog(page)).toContainText('Nothing has been set yet.');
  await expect(dialog(page).getByRole('status')).toContainText('2 of 3 documents');
  expect(await app.collection('b').countDocuments()).toBe(1);
  await dialog(page)
    .getByLabel(/^Type the name of the database, app/)
    .fill('app');
  await page.keyboard.press('Enter');
  await expect(dialog(page)).toContainText('3 collections have the new default.');
  await expect(line(page, 'a').getByRole('cell')).toHaveText('Set');
  await expect(dialog(page).getByRole('button', { name: 'Close' })).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(dialog(page)).toHaveCount(0);
  for (const name of ['a', 'b']) expect(await app.collection(name).countDocuments()).toBe(0);
  for (const name of ['c', 'd']) expect(await app.collection(name).countDocuments()).toBe(1);
  await server.advance(500);
  expect(await app.collection('c').countDocuments()).toBe(0);
  expect(await app.collection('d').countDocuments()).toBe(1);
  await bar(page).getByRole('button', { name: 'Clear selection' }).click();
  await expect(bar(page)).toHaveCount(0);
});

test('of containers, one of which refuses', async ({ page, server }) => {
  const { database } = await server.cosmos.databases.create({ id: 'app' });
  const partitionKey = { paths: ['/id'] };
  for (const id of ['plain', 'other']) await database.containers.create({ id, partitionKey });
  const indexingPolicy = { indexingMode: 'none', automatic: false } as const;
  await database.containers.create({ id: 'unindexed', partitionKey, indexingPolicy });
  await page.goto('/nosql/app');
  await page.getByRole('checkbox', { name: 'Select all listed containers' }).check();
  await bar(page).getByRole('button', { name: 'Set default TTL…' }).click();
  await dialog(page)
    .getByRole('textbox', { name: /^Time to live/ })
    .fill('90d');
  await expect(dialog(page).getByRole('status')).toContainText('Nothing expires immediately.');
  await page.keyboard.press('Enter');
  await expect(dialog(page)).toContainText('2 containers have the new default, 1 failed.');
  await expect(line(page, 'unindexed')).toContainText(/Failed: .*[Ii]ndexing ?[Mm]ode/);
  for (const id of ['plain', 'other']) {
    await expect(line(page, id).getByRole('cell')).toHaveText('Set');
    const { resource } = await database.container(id).read();
    expect(resource?.defaultTtl).toBe(90 * 86_400);
  }
  // The obstacle is removed, and the failed ones are retried.
  await database.container('unindexed').replace({ id: 'unindexed', partitionKey });
  await dialog(page).getByRole('button', { name: 'Try 1 again' }).click();
  await expect(dialog(page)).toContainText('3 containers have the new default.');
  expect((await database.container('unindexed').read()).resource?.defaultTtl).toBe(90 * 86_400);
});

test('what the filter hides is not selected', async ({ page, server }) => {
  await fill(server);
  await page.goto('/mongo/app');
  await select(page, ['a', 'b', 'c']);
  await expect(bar(page)).toContainText('3 collections selected');
  await page.getByRole('searchbox', { name: 'Filter collections' }).fill('b');
  await expect(bar(page)).toContainText('1 collection selected');
  await bar(page).getByRole('button', { name: 'Set default TTL…' }).click();
  await expect(dialog(page).getByRole('rowheader')).toHaveText(['b']);
});

test.describe('who may only read', () => {
  test.use({ options: KEYED });

  test('selects nothing', async ({ page, server }) => {
    await fill(server);
    await page.goto('/mongo/app');
    await signIn(page, READER);
    await expect(page.getByRole('table').getByRole('link', { name: 'a' })).toBeVisible();
    await expect(page.getByRole('checkbox')).toHaveCount(0);
  });
});
