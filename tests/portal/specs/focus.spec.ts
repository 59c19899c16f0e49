// The focus after an element was removed: never on the body, where keys have no effect.
import type { Page } from '@playwright/test';
import { fillWith, mongo, nosql } from '../lib/door';
import { expect, test } from '../lib/fixtures';
import { row, rows, write } from '../lib/items';

const LIST = '/mongo/app/log/items';
const grid = (page: Page) => page.getByRole('grid');
const dialog = (page: Page) => page.getByRole('dialog');
const bar = (page: Page) => page.getByRole('toolbar', { name: 'Selection' });
const undo = (page: Page) =>
  page.getByRole('region', { name: 'Notifications' }).getByRole('button', { name: /^Undo/ });

test('selected rows are deleted by mouse, and put back from the corner', async ({
  page,
  server,
}) => {
  await mongo.create(server, 7200);
  for (const id of ['a', 'b', 'c']) await mongo.put(server, id, { n: 1 });
  await page.goto(LIST);
  for (const id of ['a', 'b']) await row(page, mongo, id).getByRole('checkbox').click();
  await bar(page).getByRole('button', { name: 'Delete…' }).click();
  await dialog(page).getByRole('button', { name: 'Delete 2 documents' }).click();
  await expect(rows(page)).toHaveCount(1);
  await expect(grid(page)).toBeFocused();
  await undo(page).click();
  await expect(rows(page)).toHaveCount(3);
  await expect(grid(page)).toBeFocused();
  // From the item pane.
  await row(page, mongo, 'a').click();
  await page.getByRole('button', { name: 'Delete', exact: true }).click();
  await dialog(page).getByRole('button', { name: 'Delete' }).click();
  await expect(rows(page)).toHaveCount(2);
  await expect(grid(page)).toBeFocused();
  // The focus was elsewhere and returns there.
  const filter = page.getByRole('search').getByRole('textbox');
  await filter.click();
  await undo(page).click();
  await expect(rows(page)).toHaveCount(3);
  await expect(filter).toBeFocused();
  // The selection bar disappears by its own button, and by the action that ends the selection.
  await row(page, mongo, 'a').getByRole('checkbox').click();
  await bar(page).getByRole('button', { name: 'Clear selection' }).click();
  await expect(grid(page)).toBeFocused();
  await write(page, filter, '{ n: 1 }');
  await filter.press('Enter');
  await page.getByRole('search').getByRole('button', { name: 'Clear' }).click();
  await expect(filter).toBeFocused();
});

test('after a collection is deleted the focus is on nothing that deletes', async ({
  page,
  server,
}) => {
  await mongo.create(server, null);
  // A database exists as long as it has a collection.
  await (await server.mongo()).db('app').createCollection('other');
  await page.goto(LIST);
  const remove = page.getByRole('button', { name: 'Delete collection' });
  await remove.focus();
  await page.keyboard.press('Enter');
  await expect(dialog(page).getByRole('textbox')).toBeFocused();
  await page.keyboard.type('log');
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/\/mongo\/app$/);
  await expect(page.getByRole('button', { name: 'Delete database' })).toBeVisible();
  await expect(dialog(page)).toHaveCount(0);
  await page.keyboard.press('Enter');
  await expect(dialog(page)).toHaveCount(0);
  await expect(page.getByRole('button', { name: 'Delete database' })).not.toBeFocused();
});

test('a red button never has the focus at the beginning', async ({ page, server }) => {
  await mongo.create(server, null);
  await (await server.mongo()).db('app').collection('log').createIndex({ n: 1 });
  await fillWith(server, mongo, 8);
  await page.goto(LIST);
  await expect(rows(page).first()).toBeVisible();
  await grid(page).focus();
  await page.keyboard.press('Control+A');
  await page.keyboard.press('Delete');
  await expect(dialog(page)).toContainText('they are deleted immediately');
  await expect(dialog(page).getByRole('button', { name: 'Cancel' })).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(dialog(page)).toHaveCount(0);
  await expect(grid(page)).toBeFocused();
  expect((await mongo.ids(server)).length).toBe(8);

  await page.goto('/mongo/app/log/settings?section=indexes');
  await page.getByRole('button', { name: 'Drop n_1' }).click();
  await expect(dialog(page).getByRole('button', { name: 'Cancel' })).toBeFocused();
});

for (const width of [390, 800]) {
  test(`an item that lies over the list at ${width} px has the focus`, async ({ page, server }) => {
    await page.setViewportSize({ width, height: 800 });
    await mongo.create(server, null);
    await mongo.put(server, 'one', { n: 1 });
    await page.goto(LIST);
    await row(page, mongo, 'one').locator('[data-column="_id"]').click();
    await expect(page.getByRole('heading', { name: '"one"' })).toBeFocused();
    await page.keyboard.press('Escape');
    await expect(page.getByRole('region', { name: /^Document / })).toHaveCount(0);
    await expect(grid(page)).toBeFocused();
  });
}

test('a result of a query is opened', async ({ page, server }) => {
  await nosql.create(server, null);
  await nosql.put(server, 'one', { n: 1 });
  await page.goto('/nosql/app/log/query');
  await page.getByRole('button', { name: 'Execute query' }).click();
  await page.getByRole('link', { name: 'Open item of row 1' }).click();
  await expect(page.getByRole('heading', { name: 'one' })).toBeFocused();
  await page.keyboard.press('Escape');
  await expect(grid(page)).toBeFocused();
});

test('the index that a query lacks is made', async ({ page, server }) => {
  await mongo.create(server, null);
  await fillWith(server, mongo, 1500);
  await page.goto('/mongo/app/log/query');
  const field = page.getByRole('textbox', { name: /^Filter/ });
  await field.click();
  await page.keyboard.press('Control+A');
  await page.keyboard.insertText('{ n: 7 }');
  await page.getByRole('button', { name: 'Execute query' }).click();
  const tab = page.getByRole('tab', { name: 'Explain' });
  await tab.click();
  await page.getByRole('button', { name: 'Create and run again' }).click();
  await expect(page.getByRole('tabpanel').getByText('IXSCAN')).toBeVisible();
  await expect(tab).toBeFocused();
});

test('an import ends', async ({ page, server }) => {
  await mongo.create(server, null);
  await page.goto(LIST);
  const button = page.getByRole('button', { name: 'Import', exact: true });
  await button.click();
  await dialog(page)
    .locator('input[type=file]')
    .setInputFiles({
      name: 'two.jsonl',
      mimeType: 'application/x-ndjson',
      buffer: Buffer.from('{"_id":"a"}\n{"_id":"b"}\n'),
    });
  await dialog(page)
    .getByRole('button', { name: /^Import/ })
    .click();
  await expect(dialog(page)).toContainText('Import finished.');
  await expect(dialog(page).getByRole('button', { name: 'Close' })).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(rows(page)).toHaveCount(2);
  await expect(button).toBeFocused();
});
