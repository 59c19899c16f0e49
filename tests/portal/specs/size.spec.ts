// Items close to the size limit can be edited; larger ones are refused without losing input.
import type { Page } from '@playwright/test';
import { expect, test } from '../lib/fixtures';
import { edit, editor, rows } from '../lib/items';
import { noted } from '../lib/pane';

const MEGABYTE = 1024 * 1024;
const saveItem = (page: Page) =>
  page.locator('.items-commands').getByRole('button', { name: 'Save' });

/** Opens the item, of which only the start is shown at first, in an editor. */
async function openLarge(page: Page): Promise<void> {
  await rows(page).filter({ hasText: 'large' }).first().click();
  await page.getByRole('button', { name: 'Edit anyway' }).click();
  await expect(editor(page)).toBeVisible();
}

test('an item of nearly 2 MB, and one beyond', async ({ page, server, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const { database } = await server.cosmos.databases.create({ id: 'app' });
  const { container } = await database.containers.create({
    id: 'log',
    partitionKey: { paths: ['/id'] },
  });
  const lines = Array.from({ length: 20_000 }, (_, at) => `${at} `.padEnd(95, 'x'));
  await container.items.create({ id: 'large', lines });
  const stored = async () =>
    (await container.item('large', 'large').read()).resource as Record<string, unknown>;

  await page.goto('/nosql/app/log/items');
  await openLarge(page);
  await edit(page, '"edited": 1');
  await saveItem(page).click();
  await noted(page, 'Successfully updated item large');
  expect(await stored()).toMatchObject({ edited: 1, lines });

  const more = `"more": "${'y'.repeat(MEGABYTE)}"`;
  await page.evaluate((text) => navigator.clipboard.writeText(`\n  ${text},`), more);
  await editor(page).focus();
  await page.keyboard.press('Control+Home');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('Control+V');
  await expect(page.getByText('unsaved', { exact: true })).toBeVisible();
  await expect(page.getByText(/accepts at most 2 MB/).first()).toBeVisible();
  await saveItem(page).click();
  await expect(
    page
      .getByRole('alert')
      .filter({ hasText: /accepts at most 2 MB/ })
      .first(),
  ).toBeVisible();
  await expect(page.getByText('unsaved', { exact: true })).toBeVisible();
  expect(await stored()).not.toHaveProperty('more');
  await editor(page).focus();
  await page.keyboard.press('Control+Home');
  await expect(editor(page)).toContainText('"more"');

  await page.keyboard.press('Control+Z');
  await edit(page, '"after": 2');
  await saveItem(page).click();
  await expect.poll(stored).toMatchObject({ after: 2, edited: 1 });
  expect(await stored()).toMatchObject({ lines });
});

test('a document of 4 MB', async ({ page, server }) => {
  const collection = (await server.mongo())
    .db('app')
    .collection<{ _id: string; lines: string[] }>('log');
  const lines = Array.from({ length: 40_000 }, (_, at) => `${at} `.padEnd(100, 'x'));
  await collection.insertOne({ _id: 'large', lines });
  await page.goto('/mongo/app/log/items');
  await openLarge(page);
  await edit(page, 'edited: 1');
  await saveItem(page).click();
  await noted(page, /Successfully updated document/);
  expect(await collection.findOne({ _id: 'large' })).toMatchObject({ edited: 1, lines });
});

test('large documents of a list are cut by the server, and changed as a whole', async ({
  page,
  server,
}) => {
  const collection = (await server.mongo()).db('app').collection<{ _id: number }>('log');
  const text = 'x'.repeat(270_000);
  const lines = Array.from({ length: 5_000 }, (_, at) => at);
  const nested = { a: 'y'.repeat(9_000) };
  for (let n = 0; n < 20; n += 1)
    await collection.insertOne({ _id: n, text, lines, nested, n } as never);
  let received = 0;
  page.on('response', async (response) => {
    if (!response.url().includes('/_portal/api/mongo/')) return;
    received += (await response.body().catch(() => Buffer.alloc(0))).length;
  });
  await page.goto('/mongo/app/log/items');
  const grid = page.getByRole('grid');
  await expect(grid.getByRole('gridcell', { name: '19', exact: true }).first()).toBeVisible();
  await expect(grid.getByText(/object of \d+ bytes/).first()).toBeVisible();
  expect(received).toBeLessThan(200_000);

  await page.getByRole('checkbox', { name: 'Select 3', exact: true }).check();
  const bar = page.getByRole('toolbar', { name: 'Selection' });
  await bar.getByRole('button', { name: 'Change a field…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Field', { exact: true }).fill('n');
  await dialog.getByLabel('Value', { exact: true }).fill('33');
  await expect(dialog).toContainText('Of 1: 1 will change');
  await dialog.getByRole('button', { name: 'Change 1 document' }).click();
  await expect(dialog).toHaveCount(0);
  expect(await collection.findOne({ _id: 3 })).toMatchObject({ n: 33, text, lines, nested });

  await grid.getByRole('gridcell', { name: '7', exact: true }).first().click();
  const pane = page.getByRole('region', { name: 'Document 7', exact: true });
  await expect(pane.getByText(/object of \d+ bytes/)).toHaveCount(0);
  await expect(pane).toContainText('xxxx');
});

test('large items of a list are cut by the server, and changed as a whole', async ({
  page,
  server,
}) => {
  const { database } = await server.cosmos.databases.create({ id: 'app' });
  const { container } = await database.containers.create({
    id: 'log',
    partitionKey: { paths: ['/owner/name'] },
  });
  const text = 'x'.repeat(270_000);
  const lines = Array.from({ length: 5_000 }, (_, at) => at);
  const nested = { a: 'y'.repeat(9_000) };
  const owner = { name: 'ada', about: 'z'.repeat(9_000) };
  for (let n = 0; n < 20; n += 1)
    await container.items.create({ id: String(n), owner, text, lines, nested, n });
  const stored = async (id: string) => (await container.item(id, 'ada').read()).resource;
  let received = 0;
  page.on('response', async (response) => {
    if (!response.url().includes('/_portal/api/nosql/')) return;
    received += (await response.body().catch(() => Buffer.alloc(0))).length;
  });
  await page.goto('/nosql/app/log/items');
  const grid = page.getByRole('grid');
  await expect(grid.getByRole('gridcell', { name: '19', exact: true }).first()).toBeVisible();
  await expect(grid.getByText(/object of \d+ bytes/).first()).toBeVisible();
  expect(received).toBeLessThan(200_000);

  await page.getByRole('checkbox', { name: 'Select 3', exact: true }).check();
  const bar = page.getByRole('toolbar', { name: 'Selection' });
  await bar.getByRole('button', { name: 'Change a field…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Field', { exact: true }).fill('n');
  await dialog.getByLabel('Value', { exact: true }).fill('33');
  await expect(dialog).toContainText('Of 1: 1 will change');
  await dialog.getByRole('button', { name: 'Change 1 item' }).click();
  await expect(dialog).toHaveCount(0);
  expect(await stored('3')).toMatchObject({ n: 33, owner, text, lines, nested });

  await grid.getByRole('gridcell', { name: '7', exact: true }).first().click();
  const pane = page.getByRole('region', { name: 'Item 7', exact: true });
  await expect(pane.getByText(/object of \d+ bytes/)).toHaveCount(0);
  await expect(pane).toContainText('zzzz');
  await edit(page, '"edited": 1');
  await saveItem(page).click();
  await noted(page, 'Successfully updated item 7');
  expect(await stored('7')).toMatchObject({ edited: 1, owner, text, lines, nested });
});
