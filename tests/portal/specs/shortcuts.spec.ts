// Letter shortcuts: their effect, the fields in which they are inactive, and how to disable them.
import type { Page } from '@playwright/test';
import { mongo } from '../lib/door';
import { expect, test } from '../lib/fixtures';
import { editor, open, rows, write } from '../lib/items';
import { typeFast } from '../lib/keyboard';
import { fontsReady } from '../lib/layout';

const filter = (page: Page) => page.getByRole('search').getByRole('textbox');

test('views, filter, a new item, the text of one', async ({ page, server }) => {
  await mongo.create(server, null);
  await mongo.put(server, 'one', { n: 1 });
  await page.goto('/mongo/app/log/items');
  await expect(rows(page)).toHaveCount(1);
  for (const [keys, view] of [
    ['gq', 'query'],
    ['gs', 'settings'],
    ['gm', 'metrics'],
    ['gi', 'items'],
  ] as const) {
    await typeFast(page, keys);
    await expect(page).toHaveURL(new RegExp(`/mongo/app/log/${view}$`));
    await expect(page.getByRole('tab', { selected: true }).first()).toBeVisible();
  }
  await expect(rows(page)).toHaveCount(1);
  await page.keyboard.press('/');
  await expect(filter(page)).toBeFocused();
  // In a text input they are letters.
  await page.keyboard.type('gqn?/');
  await expect(filter(page)).toHaveText('gqn?/');
  await write(page, filter(page), '');
  await page.getByRole('heading').first().click();

  await open(page, 'one');
  await page.keyboard.press('e');
  await expect(editor(page)).toBeFocused();
  await page.keyboard.press('Control+Home');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.type('n: 2,');
  await expect(page.getByText('unsaved', { exact: true })).toBeVisible();
  await page.keyboard.press('Control+S');
  await expect.poll(() => mongo.get(server, 'one')).toMatchObject({ n: 1 });
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  await expect(editor(page)).toHaveCount(0);

  // In the tree, letters find a name; these keys cannot start one.
  await page.getByRole('tree').focus();
  await page.keyboard.press('/');
  await expect(filter(page)).toBeFocused();
  await page.getByRole('heading').first().click();
  await page.keyboard.press('n');
  await expect(editor(page)).toBeFocused();
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  await typeFast(page, 'gh');
  await expect(page).toHaveURL(/\/$/);
  // This page has no views and no items.
  await typeFast(page, 'gqn');
  await expect(page).toHaveURL(/\/$/);
});

test('the sheet lists them, and turns letters off', async ({ page, server }) => {
  await mongo.create(server, null);
  await page.goto('/mongo/app/log/items');
  await expect(page.getByText('There are no documents.')).toBeVisible();
  await page.getByRole('heading').first().click();
  await page.keyboard.press('?');
  const sheet = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
  for (const what of ['New item', 'Filter', /^Settings$/, 'Execute the query']) {
    await expect(sheet.getByRole('definition').filter({ hasText: what })).toBeVisible();
  }
  const ofTree = sheet.getByRole('region', { name: 'Tree' });
  await expect(ofTree.getByRole('definition')).toHaveText([
    'Move between rows',
    'Go to the first or the last row',
    'Open or close a database',
    'Open the database or collection',
    'Jump to a name',
    'Actions of a row',
    'Delete (asks first)',
  ]);
  // All are visible: in a large window at once, in a small one by vertical scrolling only.
  await expect(ofTree).toBeInViewport({ ratio: 1 });
  await page.setViewportSize({ width: 390, height: 844 });
  const list = sheet.getByRole('region', { name: 'Shortcuts' });
  await fontsReady(page);
  expect(await list.evaluate((box) => box.scrollWidth - box.clientWidth)).toBe(0);
  await page.setViewportSize({ width: 1280, height: 800 });
  // The page below does not react.
  await typeFast(page, 'gq');
  await expect(page).toHaveURL(/items$/);
  await sheet.getByRole('checkbox', { name: /^Enable single-letter shortcuts/ }).uncheck();
  await page.keyboard.press('Escape');
  await expect(sheet).toHaveCount(0);
  await page.keyboard.type('gq?n');
  await expect(page.getByRole('dialog')).toHaveCount(0);
  await expect(page).toHaveURL(/items$/);
  // Keys with Ctrl still work, and shortcuts can be enabled again.
  await page.keyboard.press('Control+K');
  await expect(page.getByRole('combobox', { name: /^Find/ })).toBeFocused();
  await page.keyboard.type('shortcuts');
  await page.keyboard.press('Enter');
  await sheet.getByRole('checkbox', { name: /^Enable single-letter shortcuts/ }).check();
  await page.keyboard.press('Escape');
  await expect(sheet).toHaveCount(0);
  await typeFast(page, 'gq');
  await expect(page).toHaveURL(/query$/);
});

test('after a click in the tree letters are shortcuts; after a key there they find a name', async ({
  page,
  server,
}) => {
  const database = (await server.mongo()).db('app');
  for (const name of ['events', 'groups', 'notes']) await database.createCollection(name);
  await page.goto('/mongo/app');
  const line = (name: string) => page.getByRole('treeitem', { name, exact: true });
  await line('events').click();
  await expect(page).toHaveURL(/\/mongo\/app\/events\/items$/);
  await typeFast(page, 'gq');
  await expect(page).toHaveURL(/\/mongo\/app\/events\/query$/);
  await typeFast(page, 'gi');
  await expect(page).toHaveURL(/\/mongo\/app\/events\/items$/);
  await expect(page.getByText('There are no documents.')).toBeVisible();
  await page.keyboard.press('n');
  await expect(editor(page)).toBeFocused();

  await page.getByRole('tree').focus();
  await page.keyboard.press('Home');
  await page.keyboard.press('n');
  await expect(page.locator('.tree-row.active')).toHaveText(/notes/);
  await page.keyboard.press('?');
  await expect(page.getByRole('dialog')).toContainText('Jump to a name');
});

test('keys that a busy page handles late are still a sequence', async ({ page, server }) => {
  await mongo.create(server, null);
  await page.goto('/mongo/app/log/items');
  await expect(page.getByText('There are no documents.')).toBeVisible();
  // As if the page was busy for two seconds before it handled each key.
  await page.evaluate(() => {
    const now = performance.now.bind(performance);
    let late = 0;
    performance.now = () => {
      late += 2000;
      return now() + late;
    };
  });
  await typeFast(page, 'gq');
  await expect(page).toHaveURL(/\/query$/);
});
