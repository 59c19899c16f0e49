// Queries in both APIs: results and pages, figures equal to those of the official clients, errors
// with positions, history, keys, and cancellation.
import type { Page } from '@playwright/test';
import { collection, container, DOORS, type Door, fillWith, mongo, nosql } from '../lib/door';
import { expect, test } from '../lib/fixtures';
import { write } from '../lib/items';

const MANY = 250;

const box = (page: Page, name: string) => page.getByRole('textbox', { name, exact: true });
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const summary = (page: Page) => page.locator('.query-bar').getByRole('status');

/** Returns the rendered lines of the results. */
async function results(page: Page): Promise<string> {
  await button(page, 'JSON').click();
  await expect(box(page, 'Results')).toBeVisible();
  const lines = await box(page, 'Results').locator('.cm-line').allTextContents();
  return lines.join('\n');
}

async function figure(page: Page, name: string): Promise<string> {
  const line = page
    .getByRole('row')
    .filter({ has: page.getByRole('rowheader', { name, exact: true }) });
  return line.getByRole('cell').first().innerText();
}

async function start(page: Page, door: Door) {
  await page.goto(`/${door.name}/app/log/query`);
  await expect(summary(page)).toContainText('Press Ctrl+Enter');
}

/** Three pages forward and two back. */
async function turnPages(page: Page) {
  await expect(summary(page)).toContainText('Page 1: 1 to 100');
  await expect(button(page, 'Previous')).toBeDisabled();
  await button(page, 'Next').click();
  await expect(summary(page)).toContainText('Page 2 of 2 read: 101 to 200');
  await expect(box(page, 'Results')).toContainText('100');
  await button(page, 'Next').click();
  await expect(summary(page)).toContainText('Page 3 of 3 read: 201 to 250');
  await expect(summary(page)).not.toContainText('more available');
  await expect(button(page, 'Next')).toBeDisabled();
  await button(page, 'Previous').click();
  await button(page, 'Previous').click();
  await expect(summary(page)).toContainText('Page 1 of 3 read: 1 to 100');
  await button(page, 'Next').click();
  await expect(summary(page)).toContainText('Page 2 of 3 read: 101 to 200');
}

test('SQL: results, pages, figures', async ({ page, server }) => {
  await nosql.create(server, null);
  await fillWith(server, nosql, MANY);
  await start(page, nosql);
  const query = 'SELECT c.id, c.n FROM c WHERE c.n < 3 AND c.user = "bob"';
  await write(page, box(page, 'Query'), query);
  await page.keyboard.press('Control+Enter');
  await expect(summary(page)).toContainText('2 results, run at ');
  const asked = container(server).items.query(query, {
    populateQueryMetrics: true,
    maxItemCount: 100,
  });
  const answer = await asked.fetchNext();
  expect(JSON.parse(await results(page))).toEqual(answer.resources);

  await page.getByRole('tab', { name: 'Statistics' }).click();
  await expect(page.getByRole('rowheader', { name: 'Request charge' })).toBeVisible();
  expect(await figure(page, 'Request charge')).toBe(
    `${Number(answer.requestCharge.toFixed(2))} RU`,
  );
  expect(await figure(page, 'Documents returned')).toBe(String(answer.resources.length));
  // The client's type declaration says string.
  const metrics = Object.values(
    answer.queryMetrics as unknown as Record<string, { retrievedDocumentCount: number }>,
  )[0];
  expect(metrics?.retrievedDocumentCount).toBeGreaterThan(0);
  expect(await figure(page, 'Documents examined (retrieved)')).toBe(
    String(metrics?.retrievedDocumentCount),
  );

  await page.getByRole('tab', { name: 'Results' }).click();
  await write(page, box(page, 'Query'), 'SELECT VALUE c.n FROM c ORDER BY c.n');
  await button(page, 'Execute query').click();
  await turnPages(page);
  await page.getByRole('tab', { name: 'Statistics' }).click();
  const sums = page.getByRole('row').filter({ hasText: 'Documents returned' }).getByRole('cell');
  await expect(sums).toHaveText(['100', String(MANY)]);
});

test('find and pipeline: results, pages, figures', async ({ page, server }) => {
  await mongo.create(server, null);
  await fillWith(server, mongo, MANY);
  const log = await collection(server);
  await log.createIndex({ n: 1 });
  await start(page, mongo);
  await write(page, box(page, 'Filter'), '{ n: { $gte: 240 } }');
  await write(page, box(page, 'Projection'), '{ n: 1, _id: 0 }');
  await write(page, box(page, 'Sort'), '{ n: -1 }');
  await box(page, 'Limit').fill('3');
  await box(page, 'Sort').focus();
  await page.keyboard.press('Enter');
  await expect(summary(page)).toContainText('3 results');
  expect((await results(page)).match(/\d+/g)).toEqual(['249', '248', '247']);

  await page.getByRole('tab', { name: 'Statistics' }).click();
  const examined = page.getByRole('rowheader', { name: 'Documents examined' });
  await expect(examined).toBeVisible();
  const options = { projection: { n: 1, _id: 0 }, sort: { n: -1 as const }, limit: 3 };
  const plan = await log.find({ n: { $gte: 240 } }, options).explain('executionStats');
  const stats = plan.executionStats as {
    totalDocsExamined: number;
    totalKeysExamined: number;
    nReturned: number;
  };
  expect(await figure(page, 'Documents examined')).toBe(String(stats.totalDocsExamined));
  expect(await figure(page, 'Index keys examined')).toBe(String(stats.totalKeysExamined));
  expect(await figure(page, 'Documents returned')).toBe('3');
  expect(await figure(page, 'Index used')).toBe('n_1');

  await page.getByRole('radio', { name: 'Pipeline' }).check();
  await write(
    page,
    box(page, 'Pipeline'),
    '[{ $group: { _id: "$user", all: { $sum: 1 } } }, { $sort: { _id: 1 } }]',
  );
  await page.keyboard.press('Control+Enter');
  await expect(summary(page)).toContainText('2 results');
  await page.getByRole('tab', { name: 'Results' }).click();
  const shown = async () => (await results(page)).replace(/\s+/g, ' ');
  await expect.poll(shown).toBe('[ { _id: "ada", all: 25 }, { _id: "bob", all: 225 } ]');

  await write(page, box(page, 'Pipeline'), '[{ $sort: { n: 1 } }]');
  await page.keyboard.press('Control+Enter');
  await turnPages(page);
});

const MISTAKES: [door: Door, field: string, text: string, said: RegExp][] = [
  [nosql, 'Query', 'SELECT * FROM c WHERE c.n ==', /line 1, column \d+.*syntax|syntax/i],
  [nosql, 'Query', 'SELECT NOPE(c.n) FROM c', /NOPE/],
  [nosql, 'Query', ' ', /Enter a query/],
  [mongo, 'Filter', '{ n: ', /Filter, line 1, column \d+: /],
  [mongo, 'Filter', '{ n: { $nope: 1 } }', /\$nope/],
  [mongo, 'Filter', '{ $where: "true" }', /\$where/],
  [mongo, 'Sort', '[1]', /Sort, line 1, column 1: Not a document/],
  [mongo, 'Limit', '1.5', /Limit: Not a whole number/],
];

for (const door of DOORS) {
  test(`${door.name}: mistakes are said, and what was typed stays`, async ({ page, server }) => {
    await door.create(server, null);
    await start(page, door);
    for (const [, field, text, said] of MISTAKES.filter(([of]) => of === door)) {
      await write(page, box(page, field), text);
      await button(page, 'Execute query').click();
      await expect(page.getByRole('alert').filter({ hasText: said })).toBeVisible();
      await expect(summary(page)).toHaveText('');
      if (field === 'Limit') await expect(box(page, field)).toHaveValue(text);
      else await expect(box(page, field)).toHaveText(text.trim() === '' ? text : text.trimEnd());
      if (field !== 'Query') await write(page, box(page, field), field === 'Filter' ? '{}' : '');
    }
  });

  test(`${door.name}: history, Cancel, and what is old`, async ({ page, server }) => {
    const [field, first, second] =
      door === nosql
        ? ['Query', 'SELECT VALUE 1', 'SELECT VALUE 2']
        : ['Filter', '{ n: 1 }', '{ n: 2 }'];
    await door.create(server, null);
    await fillWith(server, door, 3);
    await start(page, door);
    for (const text of [first, second]) {
      await write(page, box(page, field), text);
      await page.keyboard.press('Control+Enter');
      await expect(summary(page)).toContainText(/\d results?,/);
    }
    await page.reload();
    await page.getByRole('tab', { name: 'History' }).click();
    const past = page.locator('.query-history').getByRole('button');
    await expect(past).toHaveCount(2);
    await expect(past.first()).toContainText(second);
    await past.nth(1).click();
    await expect(box(page, field)).toHaveText(first);
    await button(page, 'Clear history').click();
    await expect(past).toHaveCount(0);

    // Cancelling does not wait for an unresponsive server.
    const link = door === nosql ? '**/_portal/api/nosql/**/docs' : '**/_portal/api/mongo/**';
    let release = () => {};
    const held = new Promise<void>((done) => (release = done));
    await page.route(link, async (route) => {
      await held;
      await route.abort().catch(() => {
        // The page has cancelled it.
      });
    });
    await button(page, 'Execute query').click();
    await expect(summary(page)).toHaveText('Running…');
    await expect(button(page, 'Execute query')).toBeDisabled();
    await button(page, 'Cancel').click();
    await expect(summary(page)).toHaveText('Cancelled.');
    release();
    await page.unroute(link);
    await button(page, 'Execute query').click();
    await expect(summary(page)).toContainText('1 result,');

    await server.advance(5);
    await expect(page.getByText('These results are a snapshot.')).toBeVisible();
    await button(page, 'Execute query').click();
    await expect(page.getByText('These results are a snapshot.')).toHaveCount(0);
  });
}
