// A server that hangs or restarts: the page reports it, keeps input, and recovers automatically.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { expect, test } from '../lib/fixtures';
import { removeFolder } from '../lib/folder';
import { edit, editor, open } from '../lib/items';
import { chooseTtl, noted, save } from '../lib/pane';
import { Server } from '../lib/server';

async function fill(server: Server) {
  const { database } = await server.cosmos.databases.create({ id: 'app' });
  const { container } = await database.containers.create({
    id: 'log',
    partitionKey: { paths: ['/id'] },
  });
  await container.items.create({ id: 'one' });
}

const silent = (page: Page) => page.getByText(/The server has not responded since/);
const back = (page: Page) => page.getByText('The server is responding again.');
const saveItem = (page: Page) =>
  page.locator('.items-commands').getByRole('button', { name: 'Save' });

async function itemOf(server: Server): Promise<Record<string, unknown>> {
  const read = await server.cosmos.database('app').container('log').item('one', 'one').read();
  return read.resource as Record<string, unknown>;
}

test('a server that hangs and goes on', async ({ page, server }) => {
  await fill(server);
  await page.goto('/nosql/app/log/items');
  await open(page, 'one');
  await edit(page, '"before": 1');
  server.signal('SIGSTOP');
  await expect(silent(page)).toBeVisible();
  await edit(page, '"during": 2');
  await expect(editor(page)).toContainText('"during": 2');
  await saveItem(page).click();
  server.signal('SIGCONT');
  await expect(back(page)).toBeVisible();
  await expect(silent(page)).toHaveCount(0);
  await expect(editor(page)).toContainText('"before": 1');
  await noted(page, 'Successfully updated item one');
  expect(await itemOf(server)).toMatchObject({ before: 1, during: 2 });
});

test.describe('killed', () => {
  const folder = mkdtempSync(join(tmpdir(), 'ebb-kept-'));
  test.use({ options: { dataDir: join(folder, 'data') } });
  test.afterAll(() => removeFolder(folder));

  test('a server that is killed and started again', async ({ page, context, server }) => {
    await fill(server);
    const settings = await context.newPage();
    await settings.goto('/nosql/app/log/settings');
    await chooseTtl(settings, 'On', '5000');
    await page.goto('/nosql/app/log/items');
    await open(page, 'one');
    await edit(page, '"kept": 1');
    await server.kill();
    await expect(silent(page)).toBeVisible();
    await saveItem(page).click();
    // A single banner reports it.
    await expect(silent(page)).toBeVisible();
    await expect(page.getByRole('main').getByText('The server is not responding.')).toHaveCount(0);
    await expect(editor(page)).toContainText('"kept": 1');

    const again = await Server.start(server.sameAgain());
    try {
      await expect(back(page)).toBeVisible();
      // The item does not report the outage any more.
      await expect(page.getByRole('main').getByText('The server is not responding.')).toHaveCount(
        0,
      );
      await saveItem(page).click();
      await noted(page, 'Successfully updated item one');
      expect(await itemOf(again)).toMatchObject({ kept: 1 });
      await settings.bringToFront();
      await expect(settings.locator('#timeToLiveSeconds')).toHaveValue('5000');
      await expect(silent(settings)).toHaveCount(0);
      await save(settings, 'Successfully updated container log');
      const read = await again.cosmos.database('app').container('log').read();
      expect(read.resource?.defaultTtl).toBe(5000);
    } finally {
      await again.stop();
    }
  });
});

test('a page that is loaded before its server is there', async ({ page, server }) => {
  await fill(server);
  await page.goto('/nosql/app/log/items');
  await page.route('**/_portal/api/session', (route) => route.abort());
  await page.reload();
  await expect(page.getByText(/Retrying every second/)).toBeVisible();
  await page.unroute('**/_portal/api/session');
  await expect(page.getByRole('grid').getByText('one')).toBeVisible();
});

test('a server that is being opened, as after a restart', async ({ page, server }) => {
  await fill(server);
  await page.goto('/nosql/app/log/items');
  await open(page, 'one');
  await edit(page, '"kept": 1');
  const why = 'replay: the store is being opened, for 3 s so far';
  const opening = { status: 'unavailable', reason: why, version: '0', checks: { replay: why } };
  await page.route('**/status', (route) => route.fulfill({ status: 503, json: opening }));
  await page.route('**/_ebb/clock', (route) => route.fulfill({ status: 503, body: `${why}\n` }));
  await expect(page.getByText(`The server is not ready yet (${why}).`)).toBeVisible();
  await expect(editor(page)).toContainText('"kept": 1');
  await page.unrouteAll();
  await expect(back(page)).toBeVisible();
  await saveItem(page).click();
  await noted(page, 'Successfully updated item one');
});

test('a node of a cluster that does not own the data, whose status has no clock', async ({
  page,
  server,
}) => {
  await fill(server);
  const status = { status: 'ok', reason: null, version: '0', checks: {} };
  await page.route('**/status', (route) => route.fulfill({ json: status }));
  await page.goto('/nosql/app/log/items');
  await expect(page.getByRole('grid').getByText('one')).toBeVisible();
  await expect(page.locator('.top-clock')).toContainText('UTC');
  await page.goto('/monitor');
  await expect(page.getByRole('heading', { name: 'Metrics' })).toBeVisible();
  await expect(page.locator('.top-clock')).toContainText('UTC');
});
