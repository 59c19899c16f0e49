// Dialogs by keyboard: Enter acts, Escape closes, and the focus is restored.
import type { Page } from '@playwright/test';
import { fillWith, mongo, nosql } from '../lib/door';
import { expect, test } from '../lib/fixtures';
import { rows } from '../lib/items';
import { chooseTtl } from '../lib/pane';

const dialog = (page: Page) => page.getByRole('dialog');
const grid = (page: Page) => page.getByRole('grid');
const button = (page: Page, name: string | RegExp) =>
  page.getByRole('main').getByRole('button', { name, exact: true });

/** Presses Enter on the opener, and Escape in the dialog. */
async function thereAndBack(page: Page, name: string | RegExp, title: string | RegExp) {
  const opener = button(page, name).first();
  await opener.focus();
  await page.keyboard.press('Enter');
  await expect(page.getByRole('dialog', { name: title })).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(dialog(page)).toHaveCount(0);
  await expect(opener).toBeFocused();
}

for (const door of [mongo, nosql]) {
  test(`the ttl of several ${door.noun}s is set`, async ({ page, server }) => {
    await door.create(server, 7200);
    await fillWith(server, door, 3);
    await page.goto(`/${door.name}/app/log/items`);
    await expect(rows(page)).toHaveCount(3);
    await grid(page).focus();
    await page.keyboard.press('Control+A');
    const field = dialog(page).getByRole('textbox', { name: /^Time to live in/ });
    const opener = page.getByRole('toolbar').getByRole('button', { name: 'Set ttl…' });
    await opener.focus();
    await page.keyboard.press('Enter');
    await expect(field).toBeFocused();
    await page.keyboard.press('Escape');
    await expect(dialog(page)).toHaveCount(0);
    await expect(opener).toBeFocused();
    await page.keyboard.press('Enter');
    await expect(field).toBeFocused();
    await page.keyboard.type('90h');
    await page.keyboard.press('Enter');
    await expect(dialog(page)).toHaveCount(0);
    await expect(opener).toBeFocused();
    for (const id of await door.ids(server))
      expect(await door.get(server, id)).toMatchObject({ ttl: 90 * 3600 });

    const all = button(page, 'All matching…');
    await all.focus();
    await page.keyboard.press('Enter');
    await page.keyboard.press('Enter');
    await expect(field).toBeFocused();
    await page.keyboard.type('2h');
    await expect(dialog(page).getByRole('button', { name: 'Set ttl' })).toBeEnabled();
    await page.keyboard.press('Enter');
    await expect(dialog(page)).toHaveCount(0);
    await expect(all).toBeFocused();
    for (const id of await door.ids(server))
      expect(await door.get(server, id)).toMatchObject({ ttl: 2 * 3600 });
  });
}

test('of the list', async ({ page, server }) => {
  await mongo.create(server, 7200);
  await fillWith(server, mongo, 3);
  await page.goto('/mongo/app/log/items');
  await expect(rows(page)).toHaveCount(3);
  await thereAndBack(page, 'Import', /^Import/);
  await thereAndBack(page, 'Export', /^Export/);
  await grid(page).focus();
  await page.keyboard.press('Control+A');
  for (const name of ['Delete…', 'Restart countdown…', 'Change a field…', 'Export…'])
    await thereAndBack(page, name, /./);
  await grid(page).focus();
  await page.keyboard.press('Delete');
  await expect(dialog(page)).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(grid(page)).toBeFocused();
  await page.keyboard.press('ContextMenu');
  await page.getByRole('menuitem', { name: /^Delete/ }).press('Enter');
  await expect(dialog(page)).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(grid(page)).toBeFocused();
});

test('of settings, indexes and queries', async ({ page, server }) => {
  await mongo.create(server, null);
  await mongo.put(server, 'one', {});
  await (await server.mongo()).db('app').collection('log').createIndex({ n: 1 });
  await page.goto('/mongo/app/log/settings?section=indexes');
  await thereAndBack(page, 'New index', 'New index');
  await thereAndBack(page, 'Drop n_1', /./);
  await thereAndBack(page, 'Delete collection', 'Delete collection');
  await server.advance(100);
  await page.goto('/mongo/app/log/settings');
  await chooseTtl(page, 'On', '5');
  await thereAndBack(page, 'Save', 'Documents will expire');
  await page.goto('/mongo/app/log/query');
  await thereAndBack(page, 'Save query', /./);
});

test('of the frame', async ({ page, server }) => {
  await mongo.create(server, null);
  await page.goto('/mongo/app');
  await thereAndBack(page, 'New collection', 'New collection');
  const tree = page.getByRole('tree');
  await expect(tree.getByRole('treeitem', { name: 'log' })).toBeVisible();
  await tree.focus();
  await page.keyboard.press('ArrowDown');
  for (const name of [/^Rename/, /^Duplicate/, /^Empty/, /^Delete/]) {
    await page.keyboard.press('Shift+F10');
    await page.getByRole('menuitem', { name }).press('Enter');
    await expect(dialog(page)).toBeVisible();
    await page.keyboard.press('Escape');
    await expect(dialog(page)).toHaveCount(0);
    await expect(tree).toBeFocused();
  }
  for (const key of ['?', 'Control+K']) {
    const filter = button(page, 'New collection');
    await filter.focus();
    await page.keyboard.press(key);
    await expect(dialog(page)).toBeVisible();
    await page.keyboard.press('Escape');
    await expect(dialog(page)).toHaveCount(0);
    await expect(filter).toBeFocused();
  }
});
