// Figures are correct at once: latencies measured before the page was opened, and the size of a
// collection whose documents are only in the journal.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { collection, fillWith, mongo, nosql } from '../lib/door';
import { expect, test } from '../lib/fixtures';
import { removeFolder } from '../lib/folder';
import { innocent } from '../lib/innocent';
import type { Options } from '../lib/server';

test('latencies are there at once, with when they were measured', async ({ page, server }) => {
  await mongo.create(server, null);
  const log = await collection(server);
  for (let at = 0; at < 7; at += 1) await log.insertOne({ _id: `n${at}` });
  // The page can read the metrics only once.
  let reads = 0;
  await page.route('**/metrics', async (route) => {
    reads += 1;
    if (reads === 1) await route.continue();
  });
  await page.goto('/monitor');
  const table = page.getByRole('region', { name: 'Latencies' });
  const insert = table
    .getByRole('row')
    .filter({ has: page.getByRole('rowheader', { name: 'insert', exact: true }) });
  await expect(page.getByText('Per second: first figures in 2 s.')).toBeVisible();
  const cells = insert.getByRole('cell');
  await expect(cells.nth(3)).toHaveText(/\d (µs|ms|s)$/);
  await expect(cells.nth(4)).toHaveText('–');
  await expect(cells.nth(5)).toHaveText(/\d (µs|ms|s)$/);
  await expect(cells.nth(6)).toHaveText(/^until \d\d:\d\d:\d\d$/);
  await innocent(page, 'the first figures');

  // Operations that run while the page is open are measured by the page.
  await page.unroute('**/metrics');
  await page.reload();
  await expect(cells.nth(6)).toHaveText(/^until/);
  await log.insertOne({ _id: 'later' });
  await expect(cells.nth(6)).toHaveText('now');
  await expect(cells.nth(4)).toHaveText(/\d (µs|ms|s)$/);
  await expect(page.getByText(/^Per second: over the last minute/)).toBeVisible();
  await page.getByLabel('Latencies of').selectOption('since server start');
  await expect(table.getByRole('columnheader', { name: /^Measured/ })).toHaveCount(0);
});

test.describe('with a folder', () => {
  test.use({
    // biome-ignore lint/correctness/noEmptyPattern: Playwright parses the fixture names from it.
    options: async ({}, use) => {
      const folder = mkdtempSync(join(tmpdir(), 'ebb-portal-figures-'));
      const options: Options = { dataDir: join(folder, 'data') };
      await use(options);
      removeFolder(folder);
    },
  });

  const figure = (page: Page, name: string) =>
    page
      .locator('.figure')
      .filter({ has: page.getByRole('term').filter({ hasText: new RegExp(`^${name}$`) }) });

  test('what is in the journal alone does not take 0 bytes', async ({ page, server }) => {
    await mongo.create(server, null);
    await page.goto('/mongo/app/log/metrics');
    await expect(figure(page, 'On disk')).toContainText('0 bytes');
    await fillWith(server, mongo, 20);
    await page.reload();
    await expect(figure(page, 'On disk')).toContainText('In the journal only');
    await expect(figure(page, 'On disk')).toContainText('Size: 20 documents');
    await expect(figure(page, 'Indexes')).toContainText('In the journal only');
    await nosql.create(server, null);
    await fillWith(server, nosql, 20);
    await page.goto('/nosql/app/log/metrics');
    await expect(figure(page, 'On disk')).toContainText(/20 items, \d+(\.\d)? KB/);
    await expect(figure(page, 'On disk')).toContainText('in the journal');
  });
});
