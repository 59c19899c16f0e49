// Completion and error marks in the query editor.
import type { Page, Request } from '@playwright/test';
import { mongo, nosql } from '../lib/door';
import { expect, test } from '../lib/fixtures';
import { listening, write } from '../lib/items';

const box = (page: Page, name: string) => page.getByRole('textbox', { name, exact: true });
const offers = (page: Page) => page.getByRole('main').getByRole('listbox').getByRole('option');
/** The selected candidate. */
const chosen = (page: Page) => page.getByRole('main').getByRole('option', { selected: true });

/** Presses a key for a list. */
async function pressInList(page: Page, key: 'Enter' | 'Tab' | 'ArrowDown') {
  await expect(chosen(page)).toBeVisible();
  await listening(page);
  await page.keyboard.press(key);
}

/** Accepts the selected candidate. */
async function take(page: Page, box: ReturnType<typeof page.getByRole>, want: string) {
  await pressInList(page, 'Enter');
  await expect(box).toHaveText(want);
}

test('SQL: words, functions and fields, by the keyboard alone', async ({ page, server }) => {
  await nosql.create(server, null);
  for (const id of ['one', 'two'])
    await nosql.put(server, id, { customer: { name: 'ada', city: 'Ulm' }, n: 1 });
  await page.goto('/nosql/app/log/query');
  const query = box(page, 'Query');
  await write(page, query, 'SELECT * FROM c WHERE ');
  await page.keyboard.type('c.cu');
  await expect(chosen(page)).toContainText('customer');
  await expect(chosen(page)).toContainText('object, 100 %');
  await take(page, query, 'SELECT * FROM c WHERE c.customer');
  await page.keyboard.type('.');
  await expect(offers(page)).toHaveText([/^name/, /^city/]);
  await pressInList(page, 'ArrowDown');
  await expect(chosen(page)).toContainText('city');
  await take(page, query, 'SELECT * FROM c WHERE c.customer.city');
  await page.keyboard.type(' = "Ulm" AND star');
  await expect(chosen(page)).toContainText('STARTSWITH');
  await take(page, query, 'SELECT * FROM c WHERE c.customer.city = "Ulm" AND STARTSWITH()');
  await page.keyboard.type('c.id, "o"');
  await expect(offers(page)).toHaveCount(0);
  await page.keyboard.press('Control+Enter');
  await expect(page.locator('.query-bar').getByRole('status')).toContainText('1 result,');

  // A completed word is not offered: Enter ends the line.
  await write(page, query, 'SELECT * FROM ');
  await page.keyboard.type('c');
  await expect(offers(page)).toHaveCount(0);
  await page.keyboard.press('Enter');
  await page.keyboard.type('WH');
  await expect(chosen(page)).toContainText('WHERE');
  await page.keyboard.press('Escape');
  await expect(offers(page)).toHaveCount(0);
  await page.keyboard.press('Control+Space');
  await expect(chosen(page)).toContainText('WHERE');
});

test('MongoDB: operators by their place, stages and fields', async ({ page, server }) => {
  await mongo.create(server, null);
  await mongo.put(server, 'one', { amount: 7, user: 'ada' });
  await page.goto('/mongo/app/log/query');
  const filter = box(page, 'Filter');
  await write(page, filter, '{ ');
  await page.keyboard.type('am');
  await expect(chosen(page)).toContainText('amount');
  await take(page, filter, '{ amount: ');
  await page.keyboard.type('{ $gt');
  await expect(offers(page).filter({ hasText: '$gte' })).toBeVisible();
  await page.keyboard.type('e: 7 } }');
  await page.keyboard.press('Control+Enter');
  await expect(page.locator('.query-bar').getByRole('status')).toContainText('1 result,');

  const sort = box(page, 'Sort');
  await write(page, sort, '{ ');
  await page.keyboard.type('us');
  await take(page, sort, '{ user: 1');
  await page.keyboard.type(' }');
  await page.keyboard.press('Enter');
  await expect(page.locator('.query-bar').getByRole('status')).toContainText('1 result,');

  await page.getByRole('radio', { name: 'Pipeline' }).check();
  const pipeline = box(page, 'Pipeline');
  await write(page, pipeline, '[');
  await page.keyboard.type('{ $grou');
  await expect(chosen(page)).toContainText('$group');
  await pressInList(page, 'Tab');
  await expect(pipeline).toContainText(/\$group: \{/);
});

test('what stands behind the word already is not written again', async ({ page, server }) => {
  await mongo.create(server, null);
  await nosql.create(server, null);
  await mongo.put(server, 'one', { amount: 7 });
  await page.goto('/mongo/app/log/query');
  const filter = box(page, 'Filter');
  await write(page, filter, '{ unt: 7 }');
  await page.keyboard.press('Home');
  for (const key of ['ArrowRight', 'ArrowRight', 'a', 'm'] as const) await page.keyboard.press(key);
  await take(page, filter, '{ amount: 7 }');
  await page.keyboard.press('Control+Enter');
  await expect(page.locator('.query-bar').getByRole('status')).toContainText('1 result,');

  await page.goto('/nosql/app/log/query');
  const query = box(page, 'Query');
  await write(page, query, 'SELECT VALUE (7)');
  for (let n = 0; n < 3; n += 1) await page.keyboard.press('ArrowLeft');
  await page.keyboard.type('sqr');
  await take(page, query, 'SELECT VALUE SQRT(7)');
});

test('what is typed into a filter that is empty goes between its braces', async ({
  page,
  server,
}) => {
  await mongo.create(server, null);
  await mongo.put(server, 'one', { amount: 7 });
  await page.goto('/mongo/app/log/query');
  const filter = box(page, 'Filter');
  await expect(filter).toHaveText('{}');
  await page.getByRole('radio', { name: 'Filter' }).focus();
  await page.keyboard.press('Tab');
  await expect(filter).toBeFocused();
  await page.keyboard.type(' amount: 7 ');
  await expect(filter).toHaveText('{ amount: 7 }');

  // The shortcut of a list's filter works here too; a mouse press sets the cursor.
  await write(page, filter, '{}');
  await page.getByRole('heading').first().click();
  await page.keyboard.press('/');
  await expect(filter).toBeFocused();
  await page.keyboard.type('n');
  await expect(filter).toHaveText('{n}');
  await write(page, filter, '{}');
  await page.getByRole('heading').first().click();
  await filter.click();
  await page.keyboard.type(' ');
  await expect(filter).toHaveText(/^{} $/);
});

test('mistakes are underlined where they are', async ({ page, server }) => {
  await nosql.create(server, null);
  await mongo.create(server, null);
  await page.goto('/nosql/app/log/query');
  const query = box(page, 'Query');
  await write(page, query, 'SELECT NOPE(c.n) FROM c');
  await expect(page.locator('.query-bar').getByRole('status')).toContainText('Press Ctrl+Enter');
  await page.keyboard.press('Control+Enter');
  const mark = page.locator('.cm-lintRange-error');
  await expect(mark).toHaveText(/NOPE/);
  await mark.hover();
  await expect(page.locator('.cm-tooltip-lint')).toContainText('NOPE');
  await page.mouse.move(0, 0);
  await page.keyboard.press('Control+End');
  await page.keyboard.type(' ');
  await expect(mark).toHaveCount(0);

  await page.goto('/mongo/app/log/query');
  await write(page, box(page, 'Filter'), '{ n: nope }');
  await expect(mark).toHaveText('n');
  await write(page, box(page, 'Filter'), '{ n: 1 }');
  await expect(mark).toHaveCount(0);
});

test('who types on while fields are read is offered those of the place that was reached', async ({
  page,
  server,
}) => {
  await nosql.create(server, null);
  await nosql.put(server, 'one', { customer: { name: 'ada' } });
  let answer = () => {};
  const held = new Promise<void>((done) => {
    answer = done;
  });
  const isSample = (request: Request) => request.postData()?.includes('TOP 50') ?? false;
  await page.route('**/docs', async (route) => {
    if (isSample(route.request())) await held;
    await route.continue();
  });
  await page.goto('/nosql/app/log/query');
  await write(page, box(page, 'Query'), 'SELECT * FROM c WHERE');
  const asked = page.waitForRequest(isSample);
  // No candidates after a whole word.
  await page.keyboard.type(' c');
  await asked;
  await page.keyboard.type('.');
  answer();
  await expect(offers(page).filter({ hasText: 'customer' })).toBeVisible();
});

test('the colon that a completion has put in is typed over', async ({ page, server }) => {
  await mongo.create(server, null);
  await mongo.put(server, 'one', { customer: 'ada' });
  await page.goto('/mongo/app/log/query');
  const filter = box(page, 'Filter');
  await write(page, filter, '{ ');
  await page.keyboard.type('cu');
  await expect(chosen(page)).toContainText('customer');
  await pressInList(page, 'Enter');
  await expect(filter).toHaveText(/^\{ customer: /);
  await page.keyboard.type(': "ada"');
  await page.keyboard.press('Escape');
  await expect(filter).toHaveText(/^\{ customer: "ada"/);
  // Only immediately: a colon typed later is inserted.
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.type(':');
  await expect(filter).toHaveText(/^\{ customer: "ada":/);
});
