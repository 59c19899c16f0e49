// Code needed during an outage loads when the server is back, without losing input.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { expect, test } from '../lib/fixtures';
import { removeFolder } from '../lib/folder';
import { editor } from '../lib/items';
import { noted } from '../lib/pane';
import { Server } from '../lib/server';

test.use({
  // biome-ignore lint/correctness/noEmptyPattern: Playwright parses the fixture names from it.
  options: async ({}, use) => {
    const folder = mkdtempSync(join(tmpdir(), 'ebb-late-'));
    await use({ dataDir: join(folder, 'data') });
    removeFolder(folder);
  },
});

/** Chunks separate from the items page. */
const APART = /\/assets\/(editor|codemirror|pages)/;
const silent = (page: Page) => page.getByText(/The server has not responded since/);
const back = (page: Page) => page.getByText('The server is responding again.');
const anew = (page: Page) => page.getByRole('button', { name: 'New item' });

/** Opens the items page of an empty container while the routes of the other chunks fail. */
async function openItems(page: Page, server: Server, answer: 'none' | 'not found') {
  await page.route(APART, (route) =>
    answer === 'none' ? route.abort() : route.fulfill({ status: 404, body: '' }),
  );
  const { database } = await server.cosmos.databases.create({ id: 'app' });
  await database.containers.create({ id: 'log', partitionKey: { paths: ['/user'] } });
  await page.goto('/nosql/app/log/items');
  await expect(page.getByText('There are no items.')).toBeVisible();
}

for (const noticed of [true, false]) {
  const when = noticed ? 'is known to be away' : 'has just gone away';
  test(`an editor that is opened while the server ${when}`, async ({ page, server }) => {
    await openItems(page, server, 'none');
    await server.kill();
    if (noticed) await expect(silent(page)).toBeVisible();
    await anew(page).click();
    const pane = page.getByRole('region', { name: 'New item' });
    await expect(pane.getByText(/The editor “Item” loads when the server responds/)).toBeVisible();
    const again = await Server.start(server.sameAgain());
    try {
      await page.unroute(APART);
      await expect(back(page)).toBeVisible();
      await expect(editor(pane)).toBeFocused();
      await page.keyboard.type('ada');
      await pane.getByRole('button', { name: 'Save', exact: true }).click();
      await noted(page, /Successfully created item/);
      const { resources } = await again.cosmos
        .database('app')
        .container('log')
        .items.query('SELECT VALUE c.user FROM c')
        .fetchAll();
      expect(resources).toEqual(['ada']);
    } finally {
      await again.stop();
    }
  });
}

test('a page that is opened while the server is away is whole when it comes', async ({
  page,
  server,
}) => {
  await openItems(page, server, 'none');
  await server.kill();
  await page.getByRole('link', { name: 'Metrics' }).click();
  await expect(silent(page)).toBeVisible();
  const again = await Server.start(server.sameAgain());
  try {
    await page.unroute(APART);
    const chart = page.locator('.chart').first();
    await expect(chart).toBeVisible();
    // Its styles have loaded too.
    await expect(chart.locator('.chart-title')).toHaveCSS('font-weight', '600');
  } finally {
    await again.stop();
  }
});

test('code that a newer server has no more', async ({ page, server }) => {
  await openItems(page, server, 'not found');
  // The filter works as a plain input.
  await page.getByRole('search').getByRole('textbox').fill('WHERE c.kept = 1');
  await anew(page).click();
  const pane = page.getByRole('region', { name: 'New item' });
  const failure = pane.getByRole('alert').filter({ hasText: 'could not be loaded' });
  await expect(failure.getByRole('button', { name: 'Reload the portal' })).toBeVisible();
  await failure.getByRole('button', { name: 'Try again' }).click();
  await expect(failure).toBeVisible();
  await page.unroute(APART);
  await failure.getByRole('button', { name: 'Try again' }).click();
  await expect(editor(pane)).toBeVisible();
  await expect(failure).toHaveCount(0);
  await expect(page.getByRole('search').getByRole('textbox')).toHaveValue('WHERE c.kept = 1');
});

test.describe('missing', () => {
  // React logs the page's error in the console.
  test.use({ expected: [/Failed to fetch dynamically imported module/] });

  test('a page whose code was missing is loaded when a person tries again', async ({
    page,
    server,
  }) => {
    await openItems(page, server, 'not found');
    await page.getByRole('link', { name: 'Metrics' }).click();
    await expect(page.getByText('This page could not be shown')).toBeVisible();
    await page.unroute(APART);
    await page.getByRole('button', { name: 'Try again' }).click();
    await expect(page.locator('.figures').first()).toBeVisible();
  });
});

test('what was loaded early is shown while the server is away', async ({ page, server }) => {
  const { database } = await server.cosmos.databases.create({ id: 'app' });
  await database.containers.create({ id: 'log', partitionKey: { paths: ['/user'] } });
  await page.goto('/nosql/app/log/items');
  // Waits for all chunks that are preloaded.
  const loaded = () =>
    page.evaluate(() => performance.getEntriesByType('resource').map(({ name }) => name));
  for (const name of ['editor', 'codemirror', 'pages', 'AccountMetrics', 'later']) {
    await expect
      .poll(async () => (await loaded()).some((url) => url.includes(`/assets/${name}-`)))
      .toBe(true);
  }
  await page.waitForLoadState('networkidle');
  await server.kill();
  await expect(silent(page)).toBeVisible();
  await anew(page).click();
  await expect(editor(page)).toBeFocused();
  await page.getByRole('link', { name: 'Metrics' }).click();
  await expect(page.getByRole('heading', { name: 'Metrics' })).toBeVisible();
});
