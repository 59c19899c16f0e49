// MongoDB shell calls in the query page: pasted and typed ones are converted to the form's fields,
// and switching between Find and Pipeline keeps the query.
import type { Page } from '@playwright/test';
import { fillWith, mongo } from '../lib/door';
import { expect, test } from '../lib/fixtures';
import { innocent } from '../lib/innocent';
import { write } from '../lib/items';
import type { Server } from '../lib/server';

const box = (page: Page, name: string) => page.getByRole('textbox', { name, exact: true });
const summary = (page: Page) => page.locator('.query-summary');
const toast = (page: Page, text: string) =>
  page.getByRole('region', { name: 'Notifications' }).getByText(text);

async function open(page: Page, server: Server) {
  await mongo.create(server, null);
  await fillWith(server, mongo, 25);
  await page.goto('/mongo/app/log/query');
  await expect(box(page, 'Filter')).toHaveText('{}');
}

/** Checks the fields of a find. */
async function find(page: Page, filter: string, rest: [string, string, string, string]) {
  const [projection, sort, limit, skip] = rest;
  await expect(box(page, 'Filter')).toHaveText(filter);
  await expect(box(page, 'Projection')).toHaveText(projection);
  await expect(box(page, 'Sort')).toHaveText(sort);
  await expect(box(page, 'Limit')).toHaveValue(limit);
  await expect(box(page, 'Skip')).toHaveValue(skip);
}

const LINE =
  'db.log.find({ n: { $gte: 10 } }, { n: 1 }).sort({ n: -1 }).limit(3).skip(2); // the last';

test('a pasted find is taken apart, run, and undone', async ({ page, server }) => {
  await open(page, server);
  await write(page, box(page, 'Filter'), LINE);
  await find(page, '{ n: { $gte: 10 } }', ['{ n: 1 }', '{ n: -1 }', '3', '2']);
  await expect(
    toast(page, 'Converted the shell command: filter, projection, sort, limit and skip.'),
  ).toBeVisible();
  await page.keyboard.press('Control+Enter');
  await expect(summary(page)).toContainText('3 results');
  await page.getByRole('button', { name: 'JSON', exact: true }).click();
  await expect(box(page, 'Results')).toContainText('n: 22');
  await expect(page).toHaveURL(/skip=2/);
  await page.getByRole('button', { name: /^Undo/ }).click();
  await find(page, LINE, ['', '', '', '']);
});

test('a typed line is taken apart when it is executed', async ({ page, server }) => {
  await open(page, server);
  const filter = box(page, 'Filter');
  await write(page, filter, '');
  await filter.pressSequentially('db.log.find({ n: 3 }).limit(1)');
  await expect(page.getByText('Execute query converts it first.')).toBeVisible();
  await page.keyboard.press('Control+Enter');
  await expect(summary(page)).toContainText('1 result');
  await find(page, '{ n: 3 }', ['', '', '1', '']);
});

for (const [line, results] of [
  ['db.getCollection("log").aggregate([ { $match: { n: { $lt: 4 } } } ])', '4 results'],
  ['db.log.distinct("user")', '2 results'],
  ['db.log.find({ n: 1 }).count()', '1 result'],
] as const)
  test(`${line} becomes a pipeline`, async ({ page, server }) => {
    await open(page, server);
    await write(page, box(page, 'Filter'), line);
    await expect(page.getByRole('radio', { name: 'Pipeline' })).toBeChecked();
    await page.getByRole('button', { name: 'Execute query' }).click();
    await expect(summary(page)).toContainText(results);
    await page.getByRole('radio', { name: 'Filter' }).check();
    await expect(box(page, 'Filter')).not.toHaveText(/^db/);
  });

test('counts and distinct values are those of the database', async ({ page, server }) => {
  await open(page, server);
  const log = (await server.mongo()).db('app').collection<{ _id: string; tags?: unknown }>('log');
  await log.insertMany([
    { _id: 'a', tags: ['x', 'y'] },
    { _id: 'b', tags: [] },
    { _id: 'c', tags: null },
  ]);
  await write(page, box(page, 'Filter'), 'db.log.distinct("tags", { n: { $exists: false } })');
  // The focus moves to the other input.
  await expect(box(page, 'Pipeline')).toBeFocused();
  await page.keyboard.press('Control+Enter');
  const want = await log.distinct('tags', { n: { $exists: false } } as never);
  expect(new Set(want)).toEqual(new Set([null, 'x', 'y']));
  await expect(summary(page)).toContainText('3 results');
  await write(page, box(page, 'Pipeline'), 'db.log.countDocuments({ user: "ada" })');
  await page.keyboard.press('Control+Enter');
  await page.getByRole('button', { name: 'JSON', exact: true }).click();
  const count = await log.countDocuments({ user: 'ada' } as never);
  await expect(box(page, 'Results')).toContainText(`count: ${count}`);
});

test('a line about another collection is asked there', async ({ page, server }) => {
  await open(page, server);
  await (await server.mongo()).db('app').collection('orders').insertOne({ n: 7 });
  await page.reload();
  await write(page, box(page, 'Filter'), 'db.orders.find({ n: 7 }).limit(5)');
  await expect(page.getByText('This command is for orders, not log.')).toBeVisible();
  await innocent(page, 'a line about another collection');
  await page.getByRole('button', { name: 'Open Query of orders' }).click();
  await expect(page).toHaveURL(/\/mongo\/app\/orders\/query/);
  await find(page, '{ n: 7 }', ['', '', '5', '']);
  await page.getByRole('button', { name: 'Execute query' }).click();
  await expect(summary(page)).toContainText('1 result');
  await page.goBack();
  await page.getByRole('button', { name: 'Execute query' }).click();
  await page.getByRole('button', { name: 'Run it on log' }).click();
  await find(page, '{ n: 7 }', ['', '', '5', '']);
});

test('what is not known is named, with what is', async ({ page, server }) => {
  await open(page, server);
  await write(page, box(page, 'Filter'), 'db.log.find({ n: 1 }).hint({ n: 1 })');
  const problem = page.getByRole('main').getByRole('alert');
  await expect(problem).toContainText(
    'Filter, line 1, column 23: unknown method "hint" after find',
  );
  await expect(problem).toContainText('sort, limit, skip');
  await page.keyboard.press('Control+Enter');
  await expect(summary(page)).toContainText('Press Ctrl+Enter');
  await write(page, box(page, 'Filter'), '{ n: 1 }');
  await expect(problem).toHaveCount(0);
});

test('from Find to Pipeline and back', async ({ page, server }) => {
  await open(page, server);
  await write(page, box(page, 'Filter'), LINE);
  await page.getByRole('radio', { name: 'Pipeline' }).check();
  const pipeline = box(page, 'Pipeline');
  await expect(pipeline).toHaveText(
    '[  { $match: { n: { $gte: 10 } } },  { $sort: { n: -1 } },  { $skip: 2 },  { $limit: 3 },  { $project: { n: 1 } }]',
  );
  await page.getByRole('button', { name: 'Execute query' }).click();
  await expect(summary(page)).toContainText('3 results');
  await write(page, pipeline, '[{ $match: { n: 5 } }, { $limit: 1 }]');
  await page.getByRole('radio', { name: 'Filter' }).check();
  await find(page, '{ n: 5 }', ['', '', '1', '']);
  // A pipeline that a find cannot express is kept.
  await page.getByRole('radio', { name: 'Pipeline' }).check();
  await write(page, pipeline, '[{ $group: { _id: "$user" } }]');
  await page.getByRole('radio', { name: 'Filter' }).check();
  await find(page, '{ n: 5 }', ['', '', '1', '']);
  await page.getByRole('radio', { name: 'Pipeline' }).check();
  await expect(pipeline).toHaveText('[{ $group: { _id: "$user" } }]');
  await page.getByRole('button', { name: 'Use the filter instead' }).click();
  await expect(pipeline).toHaveText('[  { $match: { n: 5 } },  { $limit: 1 }]');
});
