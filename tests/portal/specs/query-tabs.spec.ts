// Query tabs of a collection, kept across reloads; saved queries; the URL of the current query.
import type { Page } from '@playwright/test';
import { DOORS, type Door, fillWith, mongo, nosql } from '../lib/door';
import { expect, test } from '../lib/fixtures';
import { write } from '../lib/items';
import { noted } from '../lib/pane';

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const tab = (page: Page, name: string) =>
  page.getByRole('tablist', { name: 'Queries' }).getByRole('tab', { name, exact: true });
const box = (page: Page, door: Door) =>
  page.getByRole('textbox', { name: door === nosql ? 'Query' : 'Filter', exact: true });
const summary = (page: Page) => page.locator('.query-bar:visible').getByRole('status');

const TEXTS = {
  nosql: ['SELECT * FROM c', 'SELECT VALUE c.n FROM c WHERE c.n = 1', 'SELECT VALUE 2'],
  mongo: ['{}', '{ n: 1 }', '{ n: 2 }'],
} as const;

/** Chooses from the menu of the current tab. */
async function menu(page: Page, item: string) {
  await button(page, 'More for this query').click();
  await page.getByRole('menuitem', { name: item, exact: true }).click();
}

/** Enters a name in the dialog. */
async function name(page: Page, text: string, action: string) {
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill(text);
  await dialog.getByRole('button', { name: action, exact: true }).click();
  await expect(dialog).toHaveCount(0);
}

for (const door of DOORS) {
  const [first, one, two] = TEXTS[door.name];

  test(`${door.name}: tabs are added, named, closed and kept`, async ({ page, server }) => {
    await door.create(server, null);
    await fillWith(server, door, 5);
    await page.goto(`/${door.name}/app/log/query`);
    await expect(box(page, door)).toHaveText(first);
    await write(page, box(page, door), one);
    await page.keyboard.press('Control+Enter');
    await expect(summary(page)).toContainText('1 result,');
    await button(page, 'New query').click();
    await expect(tab(page, 'Query 2')).toHaveAttribute('aria-selected', 'true');
    await expect(box(page, door)).toHaveText(first);
    // The new tab's text has the focus.
    await expect(box(page, door)).toBeFocused();
    await write(page, box(page, door), two);
    await menu(page, 'Rename tab');
    await name(page, 'second', 'Rename');

    // Results stay with their tab.
    await tab(page, 'Query 1').click();
    await expect(summary(page)).toContainText('1 result,');
    await expect(box(page, door)).toHaveText(one);
    await page.keyboard.press('Tab');
    await tab(page, 'Query 1').focus();
    await page.keyboard.press('ArrowRight');
    await expect(tab(page, 'second')).toBeFocused();
    await expect(box(page, door)).toHaveText(two);
    await expect(summary(page)).toContainText('Press Ctrl+Enter');

    await page.reload();
    await expect(tab(page, 'second')).toHaveAttribute('aria-selected', 'true');
    await expect(box(page, door)).toHaveText(two);
    await tab(page, 'Query 1').click();
    await expect(box(page, door)).toHaveText(one);
    await menu(page, 'Close tab');
    await expect(tab(page, 'Query 1')).toHaveCount(0);
    await expect(box(page, door)).toHaveText(two);
    await menu(page, 'Close tab');
    await expect(tab(page, 'Query 1')).toHaveAttribute('aria-selected', 'true');
    await expect(box(page, door)).toHaveText(first);
  });

  test(`${door.name}: queries are saved, opened, renamed and deleted`, async ({ page, server }) => {
    await door.create(server, null);
    await page.goto(`/${door.name}/app/log/query`);
    await write(page, box(page, door), one);
    await button(page, 'Save query').click();
    await name(page, 'mine', 'Save');
    await noted(page, 'Saved the query “mine” in this browser.');
    await expect(tab(page, 'mine')).toBeVisible();
    await write(page, box(page, door), two);

    await page.reload();
    await page.getByRole('tab', { name: 'Saved', exact: true }).click();
    await page.getByRole('button', { name: /^mine/ }).click();
    await expect(tab(page, 'mine (changed)')).toHaveCount(1);
    await expect(tab(page, 'mine')).toHaveCount(1);
    await expect(box(page, door)).toHaveText(one);
    await page.getByRole('tab', { name: 'Saved', exact: true }).click();
    await button(page, 'Rename mine').click();
    await name(page, 'other', 'Rename');
    await button(page, 'Delete other').click();
    await expect(
      page.getByRole('tabpanel', { name: 'Saved' }).getByText('No saved queries'),
    ).toBeVisible();
    await page.getByRole('button', { name: /^Undo/ }).click();
    await expect(page.getByRole('button', { name: /^other/ })).toBeVisible();
  });

  test(`${door.name}: the address names the query`, async ({ page, server, context }) => {
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await door.create(server, null);
    await page.goto(`/${door.name}/app/log/query`);
    await write(page, box(page, door), one);
    await expect.poll(() => new URL(page.url()).searchParams.get('q')).toBe(one);
    await page.getByRole('button', { name: 'Copy link' }).first().click();
    const link = await page.evaluate(() => navigator.clipboard.readText());
    expect(link).toBe(page.url());

    // In another window, and over other unsaved text.
    const other = await context.newPage();
    await other.goto(link);
    await expect(box(other, door)).toHaveText(one);
    await expect(summary(other)).toContainText('Press Ctrl+Enter');
    await write(other, box(other, door), two);
    await expect.poll(() => new URL(other.url()).searchParams.get('q')).toBe(two);
    await other.goto(link);
    await expect(tab(other, 'Query 2')).toHaveAttribute('aria-selected', 'true');
    await expect(box(other, door)).toHaveText(one);
    await tab(other, 'Query 1').click();
    await expect(box(other, door)).toHaveText(two);
    await expect.poll(() => new URL(other.url()).searchParams.get('q')).toBe(two);

    // If the user leaves before the URL was updated, returning restores the URL's query.
    await box(other, door).focus();
    await other.evaluate(() => {
      document.execCommand('insertText', false, 'x');
      const tabs = [...document.querySelectorAll<HTMLElement>('[role=tab]')];
      setTimeout(() => tabs.find(({ textContent }) => textContent === 'Schema')?.click(), 50);
    });
    await expect(other).toHaveURL(/\/schema$/);
    await other.goBack();
    await expect(box(other, door)).toHaveText(two);
    await other.close();
  });
}

test('a find with all its fields, and a pipeline, in an address', async ({ page, server }) => {
  await mongo.create(server, null);
  await fillWith(server, mongo, 20);
  const find = new URLSearchParams({ q: '{ n: { $lt: 9 } }', sort: '{ n: -1 }', limit: '2' });
  await page.goto(`/mongo/app/log/query?${find}`);
  await expect(page.getByRole('textbox', { name: 'Sort' })).toHaveText('{ n: -1 }');
  await expect(page.getByRole('textbox', { name: 'Limit' })).toHaveValue('2');
  await button(page, 'Execute query').click();
  await expect(summary(page)).toContainText('2 results');
  const pipeline = '[{ $match: { n: 3 } }]';
  await page.goto(`/mongo/app/log/query?${new URLSearchParams({ q: pipeline })}`);
  await expect(page.getByRole('radio', { name: 'Pipeline' })).toBeChecked();
  await expect(page.getByRole('textbox', { name: 'Pipeline' })).toHaveText(pipeline);
  await expect(tab(page, 'Query 2')).toHaveAttribute('aria-selected', 'true');
});

test('a query that no address holds', async ({ page, server }) => {
  await nosql.create(server, null);
  await page.goto('/nosql/app/log/query');
  await write(page, box(page, nosql), `SELECT * FROM c WHERE c.a = "${'x'.repeat(2000)}"`);
  await expect(page.getByText('Too long for a link')).toBeVisible();
  expect(new URL(page.url()).search).toBe('');
});
