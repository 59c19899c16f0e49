// The test of journey.spec.ts for a container by keyboard only, including the confirmation of
// expirations and the item editor. The focus is visible at every stop.
import type { Page } from '@playwright/test';
import { expect, test } from '../lib/fixtures';
import { focusSeen, tabTo, typeFast, typeOver } from '../lib/keyboard';
import { noted } from '../lib/pane';
import type { Server } from '../lib/server';

async function prepare(server: Server) {
  const { database } = await server.cosmos.databases.create({ id: 'app' });
  for (const id of ['carts', 'sessions']) {
    await database.containers.create({ id, partitionKey: { paths: ['/user'] } });
  }
  const items = [{ id: 'plain' }, { id: 'short', ttl: 20 }, { id: 'pinned', ttl: -1 }];
  const container = database.container('sessions');
  for (const item of items) await container.items.create({ ...item, user: 'ada' });
  return container;
}

const radio = (page: Page, name: string) => page.getByRole('radio', { name, exact: true });
const saveButton = (page: Page) => page.getByRole('button', { name: 'Save', exact: true });

/** Moves from the checked TTL option to another one. */
async function choose(page: Page, from: string, key: 'ArrowDown' | 'ArrowUp', to: string) {
  await tabTo(page, radio(page, from));
  for (let at = 0; at < 2 && !(await radio(page, to).isChecked()); at += 1)
    await page.keyboard.press(key);
  await expect(radio(page, to)).toBeChecked();
  await expect(radio(page, to)).toBeFocused();
  await focusSeen(page);
}

async function saveByKey(page: Page) {
  await tabTo(page, saveButton(page), 'Shift+Tab');
  await page.keyboard.press('Enter');
  await expect(saveButton(page)).not.toHaveAttribute('aria-busy');
  await expect(saveButton(page)).toBeDisabled();
  // The disabled button keeps the focus.
  await focusSeen(page);
}

/** Moves from a tab of the page to another one. */
async function toTab(
  page: Page,
  by: 'Tab' | 'Shift+Tab',
  from: RegExp,
  key: 'ArrowRight' | 'ArrowLeft',
  to: RegExp,
) {
  await tabTo(page, page.getByRole('tab', { name: from }), by);
  const tab = page.getByRole('tab', { name: to });
  for (let steps = 0; steps < 5; steps += 1) {
    await page.keyboard.press(key);
    await expect(page.locator('[role=tab]:focus')).toHaveAttribute('aria-selected', 'true');
    if ((await tab.getAttribute('aria-selected')) === 'true') break;
  }
  await expect(tab).toHaveAttribute('aria-selected', 'true');
  await expect(tab).toBeFocused();
  await focusSeen(page);
}

const [ITEMS, SETTINGS] = [/^Items/, /^(Scale & settings|Settings)/];
const rows = (page: Page) =>
  page
    .getByRole('grid')
    .getByRole('row')
    .filter({ has: page.getByRole('gridcell') });

/** Sets a TTL of 30 seconds by radio button and field. */
async function turnOn(page: Page) {
  await choose(page, 'Off', 'ArrowDown', 'On (no default)');
  await saveByKey(page);
  await choose(page, 'On (no default)', 'ArrowDown', 'On');
  await tabTo(page, page.locator('#timeToLiveSeconds'));
  await typeOver(page, '30');
  await saveByKey(page);
}

/** Changes the open item in the editor, leaves it with Escape and Tab, and saves. */
async function editItem(page: Page) {
  const pane = page.getByRole('region', { name: /^Item / });
  const editor = pane.getByRole('textbox', { name: 'Item', exact: true });
  await expect(editor).toBeFocused();
  await typeOver(page, '{ "id": "plain", "user": "ada",');
  // Inside the editor, Tab inserts a character.
  await page.keyboard.press('Tab');
  await expect(editor).toBeFocused();
  await page.keyboard.type('"typed": true }');
  await page.keyboard.press('Escape');
  await page.keyboard.press('Tab');
  await expect(editor).not.toBeFocused();
  await focusSeen(page);
  await tabTo(page, pane.getByRole('button', { name: 'Save', exact: true }));
  await page.keyboard.press('Enter');
  await noted(page, 'Successfully updated item plain');
  await focusSeen(page);
  await tabTo(page, pane.getByRole('button', { name: 'Close' }), 'Shift+Tab');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('grid')).toBeFocused();
}

/** A TTL that expires items: the dialog traps the focus, Escape cancels, the name confirms. */
async function confirmDeaths(page: Page) {
  await tabTo(page, page.locator('#timeToLiveSeconds'));
  await typeOver(page, '1');
  await tabTo(page, saveButton(page), 'Shift+Tab');
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog');
  const field = dialog.getByRole('textbox');
  await expect(field).toBeFocused();
  await focusSeen(page);
  await page.keyboard.press('Escape');
  await expect(dialog).toHaveCount(0);
  await focusSeen(page);
  await tabTo(page, saveButton(page));
  await page.keyboard.press('Enter');
  await expect(field).toBeFocused();
  const confirm = dialog.getByRole('button', { name: /^Save and expire/ });
  await expect(confirm).toBeDisabled();
  // Tab cycles within the dialog.
  for (let at = 0; at < 4; at += 1) {
    await page.keyboard.press('Tab');
    const behind = page.locator(':focus:not(dialog *):not(body)');
    await expect(behind).toHaveCount(0);
  }
  await tabTo(page, field);
  await page.keyboard.type('sessions');
  await tabTo(page, confirm);
  await page.keyboard.press('Enter');
  await expect(dialog).toHaveCount(0);
  await expect(saveButton(page)).toBeDisabled();
  await focusSeen(page);
}

test('a container, with the keyboard alone', async ({ page, server }) => {
  const container = await prepare(server);
  const ids = async () => {
    const { resources } = await container.items.query('SELECT VALUE c.id FROM c').fetchAll();
    return (resources as string[]).sort();
  };
  const setting = async () => (await container.read()).resource?.defaultTtl;
  await page.goto('/');
  await expect(page.getByRole('heading').first()).toBeVisible();

  const tree = page.getByRole('tree');
  await tabTo(page, tree);
  await typeFast(page, 'ap');
  await page.keyboard.press('ArrowRight');
  await expect(tree.getByRole('treeitem', { name: 'sessions', exact: true })).toBeVisible();
  // A pause ends a typeahead word.
  await page.keyboard.press('ArrowDown');
  await expect(async () => {
    await typeFast(page, 'ses');
    const active = await tree.getAttribute('aria-activedescendant');
    await expect(page.locator(`[id="${active}"]`)).toHaveAccessibleName('sessions', {
      timeout: 100,
    });
  }).toPass();
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/\/nosql\/app\/sessions\/items/);
  await expect(rows(page)).toHaveCount(3);

  await toTab(page, 'Tab', ITEMS, 'ArrowRight', SETTINGS);
  await turnOn(page);
  expect(await setting()).toBe(30);

  await toTab(page, 'Shift+Tab', SETTINGS, 'ArrowLeft', ITEMS);
  await expect(rows(page)).toHaveCount(3);
  await server.advance(20);
  await expect(rows(page)).toHaveCount(2);
  expect(await ids()).toEqual(['pinned', 'plain']);

  await tabTo(page, page.getByRole('grid'));
  await page.keyboard.press('Home');
  for (let at = 0; at < 3; at += 1) {
    const active = await page.getByRole('grid').getAttribute('aria-activedescendant');
    if ((await page.locator(`[id="${active}"]`).innerText()).includes('plain')) break;
    await page.keyboard.press('ArrowDown');
  }
  await page.keyboard.press('Enter');
  await editItem(page);
  expect((await container.item('plain', 'ada').read()).resource).toMatchObject({ typed: true });

  await toTab(page, 'Shift+Tab', ITEMS, 'ArrowRight', SETTINGS);
  await server.advance(5);
  await confirmDeaths(page);
  expect(await setting()).toBe(1);
  expect(await ids()).toEqual(['pinned']);

  await choose(page, 'On', 'ArrowUp', 'Off');
  await saveByKey(page);
  expect(await setting()).toBeUndefined();
});
