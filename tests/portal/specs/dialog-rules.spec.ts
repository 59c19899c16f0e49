// A rule of all dialogs: buttons are right-aligned at the foot, the main action first and the
// closing button last; the first input has the focus.
import type { Page } from '@playwright/test';
import { mongo, nosql } from '../lib/door';
import { expect, test } from '../lib/fixtures';
import { newDatabase } from '../lib/pane';

const dialog = (page: Page) => page.getByRole('dialog');

/** Returns the names of the buttons at the foot, which must be at the dialog's end. */
async function foot(page: Page): Promise<string[]> {
  const row = dialog(page).locator('.row').last();
  await expect(row.getByRole('button').last()).toBeVisible();
  const [button, box] = [
    await row.getByRole('button').last().boundingBox(),
    await dialog(page).boundingBox(),
  ];
  const gap = (box?.x ?? 0) + (box?.width ?? 0) - (button?.x ?? 0) - (button?.width ?? 0);
  expect(gap).toBeGreaterThan(0);
  expect(gap).toBeLessThan(40);
  return row.getByRole('button').allTextContents();
}

async function close(page: Page) {
  await page.keyboard.press('Escape');
  await expect(dialog(page)).toHaveCount(0);
}

test('of the frame', async ({ page, server }) => {
  for (const door of [mongo, nosql]) await door.create(server, null);
  await page.goto('/nosql/app');
  await page.getByRole('main').getByRole('button', { name: 'New container' }).click();
  await expect(dialog(page).getByLabel('Container id')).toBeFocused();
  expect(await foot(page)).toEqual(['Create', 'Cancel']);
  await close(page);

  await page.goto('/mongo/app');
  await page.getByRole('main').getByRole('button', { name: 'New collection' }).click();
  await expect(dialog(page).getByLabel('Collection name')).toBeFocused();
  await close(page);

  await newDatabase(page);
  await expect(dialog(page).getByLabel('Database name')).toBeFocused();
  expect(await foot(page)).toEqual(['Create', 'Cancel']);
  await close(page);

  await page.getByRole('main').getByRole('button', { name: 'Delete database' }).click();
  await expect(dialog(page).getByLabel(/^Type the name/)).toBeFocused();
  expect(await foot(page)).toEqual(['Delete', 'Cancel']);
});

test('of indexes', async ({ page, server }) => {
  await mongo.create(server, null);
  await mongo.put(server, 'one', {});
  await page.goto('/mongo/app/log/settings');
  await page.getByRole('tab', { name: 'Indexes', exact: true }).click();
  await page.getByRole('button', { name: 'New index' }).click();
  await expect(dialog(page).getByLabel('Field 1', { exact: true })).toBeFocused();
  expect(await foot(page)).toEqual(['Create index', 'Cancel']);
});

test('of items', async ({ page, server }) => {
  await mongo.create(server, 60);
  await mongo.put(server, 'one', {});
  await page.goto('/mongo/app/log/items');
  await page.getByRole('button', { name: 'Import' }).click();
  await expect(dialog(page).getByLabel('Or paste documents')).toBeFocused();
  expect(await foot(page)).toEqual(['Continue', 'Cancel']);
  await page.keyboard.insertText('{"a":1}');
  await dialog(page).getByRole('button', { name: 'Continue' }).click();
  await expect(dialog(page).getByRole('button', { name: 'Import', exact: true })).toBeVisible();
  expect(await foot(page)).toEqual(['Import', 'Choose another file', 'Cancel']);
  await dialog(page).getByRole('button', { name: 'Cancel' }).click();
  await expect(dialog(page)).toHaveCount(0);

  await page.getByRole('button', { name: 'Export' }).click();
  expect(await foot(page)).toEqual(['Export', 'Cancel']);
  await close(page);

  await page
    .getByRole('grid')
    .getByRole('row')
    .nth(1)
    .click({ modifiers: ['Control'] });
  await page.getByRole('button', { name: 'Set ttl' }).click();
  await expect(
    dialog(page).getByRole('spinbutton').or(dialog(page).getByRole('textbox')).first(),
  ).toBeFocused();
  expect(await foot(page)).toEqual(['Set ttl', 'Cancel']);
});
