// Completion in the filter of a list: fields, operators, functions and values. Enter applies the
// filter unless an arrow key has selected a candidate.
import type { Page } from '@playwright/test';
import { fillWith, mongo, nosql } from '../lib/door';
import { expect, test } from '../lib/fixtures';
import { listening, rows, write } from '../lib/items';

const box = (page: Page) => page.getByRole('search').getByRole('textbox');
const offers = (page: Page) => page.getByRole('search').getByRole('listbox').getByRole('option');
const chosen = (page: Page) => page.getByRole('search').getByRole('option', { selected: true });

/** Waits until the editor has replaced the plain input. */
async function ready(page: Page) {
  await expect(page.getByRole('search').locator('.cm-content')).toBeVisible();
}

/** Selects by arrow keys and accepts. */
async function take(page: Page, label: RegExp) {
  await expect(offers(page).filter({ hasText: label })).toHaveCount(1);
  await listening(page);
  await expect(chosen(page)).toHaveCount(0);
  for (let n = 0; n < 50; n += 1) {
    await page.keyboard.press('ArrowDown');
    if (label.test((await chosen(page).textContent()) ?? '')) break;
  }
  await page.keyboard.press('Enter');
}

test('SQL: fields, functions and values', async ({ page, server }) => {
  await nosql.create(server, null);
  await fillWith(server, nosql, 20);
  await page.goto('/nosql/app/log/items');
  await expect(rows(page)).toHaveCount(20);
  await ready(page);
  await page.keyboard.press('/');
  await expect(box(page)).toBeFocused();
  await page.keyboard.type('WHERE c.us');
  await expect(offers(page)).toHaveText([/^userstring, 100 %/]);
  await take(page, /^user/);
  await expect(box(page)).toHaveText('WHERE c.user');
  await page.keyboard.type(' = ');
  await expect(offers(page)).toHaveText(['"bob"', '"ada"']);
  await take(page, /ada/);
  await expect(box(page)).toHaveText('WHERE c.user = "ada"');
  await expect(page).not.toHaveURL(/filter=/);
  await page.keyboard.press('Enter');
  await expect(rows(page)).toHaveCount(2);
  await expect(page).toHaveURL(/filter=/);
  await page.keyboard.type(' AND startsw');
  await take(page, /^STARTSWITH/);
  await expect(box(page)).toHaveText('WHERE c.user = "ada" AND STARTSWITH()');
  // A completed string ends with the quote that opened it.
  await write(page, box(page), 'WHERE c.user = ');
  await page.keyboard.type("'b");
  await take(page, /^bob/);
  await expect(box(page)).toHaveText("WHERE c.user = 'bob'");
  await page.keyboard.press('Enter');
  await expect(rows(page)).toHaveCount(18);
});

test('MongoDB: fields, operators and values', async ({ page, server }) => {
  await mongo.create(server, null);
  await fillWith(server, mongo, 20);
  await page.goto('/mongo/app/log/items');
  await expect(rows(page)).toHaveCount(20);
  await ready(page);
  await box(page).click();
  await page.keyboard.type('{ us');
  await take(page, /^user/);
  await expect(offers(page)).toHaveText(['"bob"', '"ada"']);
  await take(page, /ada/);
  await page.keyboard.type(', n: { $gt');
  await expect(offers(page)).toHaveText([/^\$gt/, /^\$gte/]);
  // Nothing is selected: Enter applies the text, and the list closes.
  await page.keyboard.type('e: 10 } }');
  await expect(box(page)).toHaveText('{ user: "ada", n: { $gte: 10 } }');
  await page.keyboard.press('Enter');
  await expect(rows(page)).toHaveCount(1);
});

test('a key that has its colon and its quotes gets no others', async ({ page, server }) => {
  await mongo.create(server, null);
  await fillWith(server, mongo, 20);
  await page.goto('/mongo/app/log/items');
  await expect(rows(page)).toHaveCount(20);
  await ready(page);
  for (const [text, want] of [
    ['{ : "ada" }', '{ user: "ada" }'],
    ['{ ername: "ada" }', '{ user: "ada" }'],
    ['{ "ername": "ada" }', '{ "user": "ada" }'],
  ] as const) {
    await write(page, box(page), text);
    await page.keyboard.press('Home');
    for (let n = text.search(/[a-z:]/); n > 0; n -= 1) await page.keyboard.press('ArrowRight');
    await page.keyboard.type('us');
    await take(page, /^user/);
    await expect(box(page)).toHaveText(want);
  }
  await page.keyboard.press('Enter');
  await expect(rows(page)).toHaveCount(2);
});

test('Enter applies while a list is shown, Escape closes it and then leaves', async ({
  page,
  server,
}) => {
  await nosql.create(server, null);
  await fillWith(server, nosql, 20);
  await page.goto('/nosql/app/log/items');
  await expect(rows(page)).toHaveCount(20);
  await ready(page);
  await box(page).click();
  await page.keyboard.type('WHERE "n005" = c.id');
  await page.keyboard.press('Control+Space');
  await expect(offers(page).first()).toBeVisible();
  await page.keyboard.press('Enter');
  await expect(rows(page)).toHaveCount(1);
  await expect(offers(page)).toHaveCount(0);
  await expect(box(page)).toHaveText('WHERE "n005" = c.id');
  await write(page, box(page), 'WHERE ');
  await page.keyboard.type('c.');
  await expect(offers(page).first()).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(offers(page)).toHaveCount(0);
  await expect(box(page)).toBeFocused();
  await page.keyboard.press('Escape');
  await expect(page.getByRole('grid')).toBeFocused();
  // Tab leaves the box if nothing is selected.
  await box(page).click();
  await page.keyboard.press('Tab');
  await expect(page.getByRole('button', { name: 'Apply filter' })).toBeFocused();
});

test('what is typed before the editor has come stays, and the keyboard with it', async ({
  page,
  server,
}) => {
  await mongo.create(server, null);
  await fillWith(server, mongo, 20);
  let release = () => {};
  const held = new Promise<void>((done) => (release = done));
  await page.route(/\/assets\/(editor-|completing)/, async (route) => {
    await held;
    await route.fallback();
  });
  await page.goto('/mongo/app/log/items');
  await expect(rows(page)).toHaveCount(20);
  await expect(box(page)).toHaveAttribute('placeholder', '{ user: "ada" }');
  await box(page).fill('{ n:  }');
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('ArrowLeft');
  release();
  await ready(page);
  await expect(box(page)).toBeFocused();
  await page.keyboard.type('7');
  await expect(box(page)).toHaveText('{ n: 7 }');
  await page.keyboard.press('Enter');
  await expect(rows(page)).toHaveCount(1);
});

test('arrow up brings back filters that were applied', async ({ page, server }) => {
  await mongo.create(server, null);
  await fillWith(server, mongo, 20);
  await page.goto('/mongo/app/log/items');
  await expect(rows(page)).toHaveCount(20);
  await ready(page);
  for (const [filter, n] of [
    ['{ n: 1 }', 1],
    ['{ user: "ada" }', 2],
  ] as const) {
    await write(page, box(page), filter);
    await page.keyboard.press('Enter');
    await expect(rows(page)).toHaveCount(n);
  }
  // They survive a page load.
  await page.goto('/mongo/app/log/items');
  await expect(rows(page)).toHaveCount(20);
  await ready(page);
  await write(page, box(page), '{ n: 2 }');
  await page.keyboard.press('ArrowUp');
  await expect(box(page)).toHaveText('{ user: "ada" }');
  await page.keyboard.press('ArrowUp');
  await expect(box(page)).toHaveText('{ n: 1 }');
  await page.keyboard.press('ArrowUp');
  await expect(box(page)).toHaveText('{ n: 1 }');
  await page.keyboard.press('Enter');
  await expect(rows(page)).toHaveCount(1);
  await write(page, box(page), '{ n: 2 }');
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('ArrowDown');
  await expect(box(page)).toHaveText('{ n: 2 }');
});

test('an editor of queries offers values too', async ({ page, server }) => {
  await nosql.create(server, null);
  await fillWith(server, nosql, 20);
  await page.goto('/nosql/app/log/query');
  const query = page.getByRole('textbox', { name: 'Query', exact: true });
  await write(page, query, 'SELECT * FROM c WHERE c.user =');
  await page.keyboard.type(' ');
  const options = page.getByRole('main').getByRole('option');
  await expect(options).toHaveText(['"bob"', '"ada"']);
  await page.keyboard.type('"a');
  await expect(options).toHaveText(['ada']);
  await listening(page);
  await page.keyboard.press('Enter');
  await expect(query).toHaveText('SELECT * FROM c WHERE c.user = "ada"');
  await page.keyboard.press('Control+Enter');
  await expect(page.locator('.query-bar').getByRole('status')).toContainText('2 results,');
});
