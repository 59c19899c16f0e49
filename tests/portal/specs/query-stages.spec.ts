// The stages of a pipeline: disabled, moved, added, inspected and run up to, while the editor's
// text is authoritative; writing stages are never run.
import type { Locator, Page } from '@playwright/test';
import { collection, fillWith, mongo } from '../lib/door';
import { expect, test } from '../lib/fixtures';
import { innocent } from '../lib/innocent';
import { write } from '../lib/items';
import type { Server } from '../lib/server';

const box = (page: Page) => page.getByRole('textbox', { name: 'Pipeline', exact: true });
const summary = (page: Page) => page.locator('.query-summary');
const stage = (page: Page, number: number) =>
  page
    .getByRole('list')
    .getByRole('listitem')
    .nth(number - 1);
const documents = (row: Locator) => row.getByRole('button', { name: /^Documents after/ });
const runUpTo = (row: Locator) => row.getByRole('button', { name: /^Run up to here/ });

async function open(page: Page, server: Server, pipeline: string) {
  await mongo.create(server, null);
  await fillWith(server, mongo, 30);
  await page.goto('/mongo/app/log/query');
  await expect(page.getByRole('tab', { name: 'Stages' })).toHaveCount(0);
  await page.getByRole('radio', { name: 'Pipeline' }).check();
  await write(page, box(page), pipeline);
  await page.getByRole('tab', { name: 'Stages' }).click();
}

const PIPELINE =
  '[ { $match: { n: { $gte: 10 } } }, /* few */ { $sort: { n: -1 } }, { $limit: 7 } ]';

test('a stage is left out, and taken in again', async ({ page, server }) => {
  await open(page, server, PIPELINE);
  await expect(page.getByRole('checkbox')).toHaveCount(3);
  await expect(stage(page, 1)).toContainText('$match');
  await expect(stage(page, 1)).toContainText('{ n: { $gte: 10 } }');
  await stage(page, 3).getByRole('checkbox', { name: '3 $limit' }).uncheck();
  await expect(box(page)).toHaveText(
    '[ { $match: { n: { $gte: 10 } } }, /* few */ { $sort: { n: -1 } }, /* { $limit: 7 } */ ]',
  );
  await expect(stage(page, 3)).toContainText('disabled');
  await page.getByRole('button', { name: 'Execute query' }).click();
  await expect(summary(page)).toContainText('20 results');
  await page.getByRole('tab', { name: 'Stages' }).click();
  await stage(page, 3).getByRole('checkbox').check();
  await expect(box(page)).toHaveText(
    '[ { $match: { n: { $gte: 10 } } }, /* few */ { $sort: { n: -1 } }, { $limit: 7 } ]',
  );
  await page.getByRole('button', { name: 'Execute query' }).click();
  await expect(summary(page)).toContainText('7 results');
  // The editor's undo reverts a change by the panel.
  await box(page).focus();
  await page.keyboard.press('Control+Z');
  await expect(box(page)).toContainText('/* { $limit: 7 } */');
});

test('stages are moved and added by keyboard', async ({ page, server }) => {
  await open(page, server, PIPELINE);
  await stage(page, 3).getByRole('button', { name: 'Move stage 3 up' }).focus();
  await page.keyboard.press('Enter');
  await expect(box(page)).toHaveText(
    '[ { $match: { n: { $gte: 10 } } }, /* few */ { $limit: 7 }, { $sort: { n: -1 } } ]',
  );
  // The focus follows the stage.
  await expect(page.getByRole('button', { name: 'Move stage 2 up' })).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(page.getByRole('button', { name: 'Move stage 1 down' })).toBeFocused();
  await expect(stage(page, 1)).toContainText('$limit');
  await page.getByRole('button', { name: 'Add stage' }).focus();
  await page.keyboard.press('Enter');
  await expect(page.getByRole('menuitem', { name: '$match' })).toBeFocused();
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('ArrowUp');
  await expect(page.getByRole('menuitem', { name: '$replaceRoot' })).toBeFocused();
  for (let step = 0; step < 6; step += 1) await page.keyboard.press('ArrowUp');
  await page.keyboard.press('Enter');
  await expect(stage(page, 4)).toContainText('$count');
  await expect(box(page)).toContainText('{ $sort: { n: -1 } }, { $count: "count" } ]');
  await page.getByRole('button', { name: 'Execute query' }).click();
  // The first seven do not match, and the result is empty.
  await expect(summary(page)).toContainText('0 results');
});

test('what is there after a stage', async ({ page, server }) => {
  await open(page, server, PIPELINE);
  await documents(stage(page, 2)).click();
  await expect(stage(page, 2)).toContainText('20 documents; the first 5 are shown.');
  await expect(stage(page, 2).getByRole('row').nth(1)).toContainText('29');
  await expect(stage(page, 2).getByRole('row')).toHaveCount(6);
  await documents(stage(page, 3)).click();
  await expect(stage(page, 3)).toContainText('7 documents; the first 5 are shown.');
  await expect(documents(stage(page, 2))).toHaveAttribute('aria-expanded', 'false');
  // The shown documents belong to another pipeline now.
  await stage(page, 1).getByRole('checkbox').uncheck();
  await expect(stage(page, 3)).toContainText('has changed');
  await stage(page, 3).getByRole('button', { name: 'Run again' }).click();
  await expect(stage(page, 3)).toContainText('7 documents');
  await documents(stage(page, 1)).click();
  await expect(stage(page, 1)).toContainText('30 documents');
  await runUpTo(stage(page, 2)).click();
  await expect(summary(page)).toContainText('30 results');
  await expect(page.getByRole('tab', { name: 'Results' })).toHaveAttribute('aria-selected', 'true');
  await expect(box(page)).toContainText('$limit: 7');
});

test('more than are counted, and the error of a stage', async ({ page, server }) => {
  await open(page, server, '[{ $match: { n: 1 } }, { $group: { _id: "$n", all: { $none: 1 } } }]');
  const many = Array.from({ length: 10_001 }, (_, at) => ({ _id: `m${at}`, n: 1 }));
  await (await collection(server)).insertMany(many);
  await documents(stage(page, 1)).click();
  await expect(stage(page, 1)).toContainText('More than 10,000 documents; the first 5 are shown.');
  await documents(stage(page, 2)).click();
  await expect(stage(page, 2).getByRole('alert')).toContainText('$none');
  await write(page, box(page), '[{ $match: { n: 1 }');
  await expect(page.getByRole('tabpanel').getByRole('alert').last()).toContainText(
    'Pipeline, line 1, column 20',
  );
});

test('what writes is never run from here', async ({ page, server }) => {
  await open(page, server, '[{ $match: { n: 1 } }, { $out: "copy" }]');
  await documents(stage(page, 1)).click();
  await expect(stage(page, 1)).toContainText('1 document.');
  await expect(stage(page, 2)).toContainText('writes');
  await expect(documents(stage(page, 2))).toBeDisabled();
  await expect(runUpTo(stage(page, 2))).toBeDisabled();
  // Moved to the front, it precedes every other stage.
  await stage(page, 2).getByRole('button', { name: 'Move stage 2 up' }).click();
  await expect(documents(stage(page, 2))).toBeDisabled();
  await stage(page, 1).getByRole('checkbox').uncheck();
  await documents(stage(page, 2)).click();
  await expect(stage(page, 2)).toContainText('1 document.');
  const names = await (await server.mongo()).db('app').listCollections().toArray();
  expect(names.map(({ name }) => name)).toEqual(['log']);
});

test('on a phone, and without a fault that axe finds', async ({ page, server }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await open(page, server, PIPELINE);
  await documents(stage(page, 3)).click();
  await expect(stage(page, 3)).toContainText('7 documents');
  await expect
    .poll(() => page.evaluate(() => document.documentElement.scrollWidth))
    .toBeLessThanOrEqual(390);
  await page.getByRole('button', { name: 'Add stage' }).click();
  await expect(page.getByRole('menuitem', { name: '$sample' })).toBeInViewport();
  await page.keyboard.press('Escape');
  await innocent(page, 'stages');
});
