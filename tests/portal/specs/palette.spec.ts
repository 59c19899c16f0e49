// The palette: searching and choosing by keyboard, its actions, and the focus afterwards.
import type { Page } from '@playwright/test';
import { DOORS, mongo, nosql } from '../lib/door';
import { expect, test } from '../lib/fixtures';
import { innocent } from '../lib/innocent';
import { editor, open } from '../lib/items';
import { KEYED, PRIMARY, READER, signIn } from '../lib/login';
import { noted } from '../lib/pane';

const field = (page: Page) => page.getByRole('combobox', { name: /^Find/ });
const options = (page: Page) => page.getByRole('listbox', { name: 'Results' }).getByRole('option');
const chosen = (page: Page) =>
  page.getByRole('listbox', { name: 'Results' }).getByRole('option', { selected: true });

/** Opens it and types; the first match is selected. */
async function find(page: Page, text: string) {
  await page.keyboard.press('Control+K');
  await expect(field(page)).toBeFocused();
  await page.keyboard.type(text);
}

test('what is typed before its code has come is kept', async ({ page, server }) => {
  await mongo.create(server, null);
  let answer = () => {};
  const held = new Promise<void>((done) => {
    answer = done;
  });
  await page.route(/assets\/.*palette.*\.js/i, async (route) => {
    await held;
    await route.fallback();
  });
  await page.goto('/mongo/app/log/items');
  await expect(page.getByRole('grid')).toBeVisible();
  const asked = page.waitForRequest(/assets\/.*palette.*\.js/i);
  await page.keyboard.press('Control+K');
  await asked;
  await page.keyboard.type('featuresx');
  await page.keyboard.press('Backspace');
  await page.keyboard.press('Enter');
  answer();
  await expect(field(page)).toBeFocused();
  await expect(field(page)).toHaveValue('features');
  await expect(page).toHaveURL(/\/items$/);
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/\/features$/);
});

test('collections, pages and views by some letters', async ({ page, server }) => {
  for (const door of DOORS) await door.create(server, null);
  await (await server.mongo()).db('other').createCollection('sessions');
  await page.goto('/');
  await expect(page.getByRole('treeitem')).toHaveCount(3);
  // Also in a database that was never opened.
  await find(page, 'othsess');
  await expect(chosen(page)).toContainText('other › sessions');
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/\/mongo\/other\/sessions\/items$/);
  await expect(page.getByRole('dialog')).toHaveCount(0);

  await find(page, 'query');
  await expect(chosen(page)).toContainText('Query');
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/\/mongo\/other\/sessions\/query$/);

  // From an editor, which gets the focus back.
  const text = page.getByRole('textbox', { name: 'Filter', exact: true });
  await text.focus();
  await find(page, 'nothing that is there');
  await expect(options(page)).toHaveCount(0);
  await expect(page.getByText('No results')).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(page.getByRole('dialog')).toHaveCount(0);
  await expect(text).toBeFocused();

  await find(page, 'features');
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/\/features$/);
  // The mouse works too, and arrows wrap around.
  await page.getByRole('button', { name: /^Find/ }).click();
  const first = await chosen(page).innerText();
  await page.keyboard.press('ArrowUp');
  await expect(chosen(page)).not.toHaveText(first);
  await expect(chosen(page)).toBeInViewport();
  await page.keyboard.press('ArrowDown');
  await options(page).filter({ hasText: 'Home' }).click();
  await expect(page).toHaveURL(/\/$/);
});

test('actions: make, change the theme, copy a link', async ({ page, server, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await mongo.create(server, null);
  await mongo.put(server, 'one', {});
  await page.goto('/mongo/app/log/items?filter=%7B%7D');
  await expect(page.getByRole('grid')).toBeVisible();
  await find(page, 'new document');
  await page.keyboard.press('Enter');
  await expect(editor(page)).toBeFocused();

  await find(page, 'copy link');
  await page.keyboard.press('Enter');
  await expect(page.getByText('Copied the link to this page').first()).toBeVisible();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(page.url());

  await find(page, 'theme dark');
  await page.keyboard.press('Enter');
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark');
  await expect(page.getByLabel('Theme')).toHaveValue('dark');

  await find(page, 'new collection');
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog', { name: 'New collection' });
  // The database of the current page is preselected.
  await expect(dialog.getByRole('combobox').first()).toHaveValue('at app');
  await page.keyboard.press('Escape');
  await expect(dialog).toHaveCount(0);

  await find(page, 'load sample');
  await page.keyboard.press('Enter');
  await noted(page, /Successfully loaded sample data/);
  await expect(page).toHaveURL(/\/$/);
  await expect(page.getByText(/40 of 40 sessions left/).first()).toBeVisible();
});

test('import, export and indexes of a collection are found on every page', async ({
  page,
  server,
}) => {
  await mongo.create(server, null);
  await mongo.put(server, 'one', {});
  await (await server.mongo()).db('app').createCollection('carts');
  await page.goto('/');
  await expect(page.getByRole('treeitem').first()).toBeVisible();
  await find(page, 'import log');
  await expect(chosen(page)).toContainText('app › log');
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog');
  await expect(dialog).toContainText('app › log');
  await page.keyboard.press('Escape');
  await expect(dialog).toHaveCount(0);

  // From one list to another.
  await find(page, 'export carts');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('dialog', { name: 'Export from app › carts' })).toBeVisible();
  await page.keyboard.press('Escape');
  for (const [word, label] of [
    ['export', 'Export…'],
    ['refresh', 'Refresh the documents'],
    ['index', 'Indexes'],
    ['drop', 'Delete collection'],
  ] as const) {
    await find(page, word);
    await expect(chosen(page)).toContainText(label);
    await page.keyboard.press('Escape');
  }
  await find(page, 'index');
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/\/mongo\/app\/carts\/settings\?section=indexes$/);
});

test('the clock: what a move makes expire is said before it', async ({ page, server }) => {
  await nosql.create(server, 3600);
  for (const id of ['one', 'two', 'three']) await nosql.put(server, id, {});
  await page.goto('/features');
  await expect(page.getByText('manual', { exact: true })).toBeVisible();
  await find(page, '90d');
  await expect(chosen(page)).toContainText('Advance the clock by 90 days…');
  await expect(options(page).filter({ hasText: 'by 90 days…' })).toHaveCount(1);
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog', { name: 'Advance the clock by 90 days?' });
  await expect(dialog).toContainText('3 documents expire by then, in one collection:');
  await page.keyboard.press('Escape');
  await expect(dialog).toHaveCount(0);
  expect(await nosql.ids(server)).toHaveLength(3);

  await find(page, '30 min');
  await page.keyboard.press('Enter');
  const half = page.getByRole('dialog', { name: 'Advance the clock by 30 minutes?' });
  await expect(half).toContainText('0 documents expire by then.');
  await half.getByRole('button', { name: 'Advance' }).click();
  await noted(page, 'Successfully advanced the clock by 30 minutes');
  expect(await nosql.ids(server)).toHaveLength(3);
  await find(page, '1h');
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').getByRole('button', { name: 'Advance' }).click();
  await noted(page, 'Successfully advanced the clock by 1 hour');
  expect(await nosql.ids(server)).toEqual([]);
});

test.describe('who may only read', () => {
  test.use({ options: KEYED });

  test('is offered nothing that changes data', async ({ page, context }) => {
    await page.goto('/');
    await signIn(page, READER);
    await expect(page.getByText('read-only', { exact: true })).toBeVisible();
    await find(page, '90d');
    await expect(options(page)).toHaveCount(0);
    await page.keyboard.press('Escape');
    await find(page, 'new');
    await expect(options(page).filter({ hasText: /^New/ })).toHaveCount(0);
    await page.keyboard.press('Escape');
    await context.clearCookies();
    await page.reload();
    await signIn(page, PRIMARY);
    await expect(page.getByText('Connect', { exact: true })).toBeVisible();
    await find(page, 'new');
    await expect(options(page).filter({ hasText: /^New/ })).toHaveCount(3);
  });
});

test('it is innocent', async ({ page, server }) => {
  for (const door of DOORS) await door.create(server, 60);
  await nosql.put(server, 'one', {});
  await page.goto('/nosql/app/log/items');
  await open(page, 'one');
  await find(page, '');
  await expect(options(page).first()).toBeVisible();
  await innocent(page, 'palette');
  await page.keyboard.press('Escape');
  await page.getByRole('heading').first().click();
  await page.keyboard.press('?');
  await expect(page.getByRole('dialog', { name: 'Keyboard shortcuts' })).toBeVisible();
  await innocent(page, 'sheet');
});

test('saved queries and slow operations', async ({ page, server }) => {
  await nosql.create(server, null);
  await nosql.put(server, 'one', {});
  await page.route('**/_ebb/slow', (route) =>
    route.fulfill({
      json: {
        threshold_ms: 100,
        operations: [
          {
            ...{ at: '2026-01-01T00:00:00Z', api: 'nosql', operation: 'query', database: 'app' },
            ...{ collection: 'log', duration_ms: 5808, examined: 9, returned: 1 },
            query: '{"query":"SELECT * FROM c WHERE c.slow = 1"}',
          },
          {
            ...{ at: '2026-01-01T00:00:00Z', api: 'nosql', operation: 'query', database: 'app' },
            ...{ collection: 'log', duration_ms: 7919, examined: 9, returned: 1, portal: true },
            query: '{"query":"SELECT * FROM c WHERE c.slow = 2"}',
          },
        ],
      },
    }),
  );
  await page.goto('/nosql/app/log/query?q=SELECT%20c.saved%20FROM%20c');
  const query = page.getByRole('textbox', { name: 'Query', exact: true });
  await expect(query).toContainText('c.saved');
  await page.getByRole('button', { name: 'Save query' }).click();
  await page.getByRole('dialog').getByLabel('Name').fill('my favourite');
  await page.keyboard.press('Enter');
  const tab = page.getByRole('tablist', { name: 'Queries' }).getByRole('tab');
  await expect(tab).toHaveText(['my favourite']);
  await query.focus();
  await page.keyboard.press('Control+End');
  await page.keyboard.insertText(' WHERE 1 = 1');
  await expect(tab).toHaveText(['my favourite (changed)']);

  await page.goto('/');
  await expect(page.getByRole('treeitem').first()).toBeVisible();
  await find(page, 'favourite');
  await expect(chosen(page)).toContainText('app › log');
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/\/nosql\/app\/log\/query\?q=SELECT/);
  await expect(query).toContainText('SELECT c.saved FROM c');

  await page.goto('/');
  await expect(page.getByRole('treeitem').first()).toBeVisible();
  await find(page, '5,808');
  await expect(chosen(page)).toContainText('c.slow = 1');
  // The portal's own operations are not listed.
  await field(page).fill('7,919');
  await expect(page.getByText('No results')).toBeVisible();
  await field(page).fill('5,808');
  await expect(chosen(page)).toContainText('c.slow = 1');
  await page.keyboard.press('Enter');
  await expect(query).toContainText('SELECT * FROM c WHERE c.slow = 1');
});
