// The portal keeps a cursor open on the server only while it can still be read.

import { fillWith, mongo } from '../lib/door';
import { expect, test } from '../lib/fixtures';
import { write } from '../lib/items';
import { KEYED, PRIMARY, READER, signIn } from '../lib/login';
import type { Server } from '../lib/server';

const MANY = 250;

/** Returns the number of open cursors of the MongoDB API. */
async function cursors(server: Server, headers: Record<string, string> = {}): Promise<number> {
  const status = (await (await fetch(`${server.url}/status`, { headers })).json()) as {
    mongo: { cursors: number };
  };
  return status.mongo.cursors;
}

async function fill(server: Server) {
  await mongo.create(server, null);
  await fillWith(server, mongo, MANY);
}

test('of an export, of its columns, and of a sample', async ({ page, server }) => {
  await mongo.create(server, null);
  await fillWith(server, mongo, 2500);
  await page.goto('/mongo/app/log/items');
  await expect(page.getByText('100 documents loaded')).toBeVisible();
  await expect.poll(() => cursors(server)).toBe(1);
  await page.getByRole('button', { name: 'Export', exact: true }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('radio', { name: /^CSV/ }).check();
  await expect(dialog.getByRole('textbox', { name: 'Columns' })).toHaveValue('_id\nn\nuser');
  await expect.poll(() => cursors(server)).toBe(1);
  await page.keyboard.press('Escape');
  await page.getByRole('tab', { name: 'Schema' }).click();
  await expect(page.getByText('1,000 of 2,500 documents, chosen at random')).toBeVisible();
  await expect.poll(() => cursors(server)).toBe(0);
});

test('of the list of documents', async ({ page, server }) => {
  await fill(server);
  const loaded = page.getByText('100 documents loaded');
  for (let visit = 0; visit < 3; visit += 1) {
    await page.goto('/mongo/app/log/items');
    await expect(loaded).toBeVisible();
    await page.getByRole('link', { name: 'Metrics' }).click();
    await expect(page.getByRole('heading', { name: 'Metrics' })).toBeVisible();
  }
  await expect.poll(() => cursors(server)).toBe(0);

  await page.goto('/mongo/app/log/items');
  await expect(loaded).toBeVisible();
  await expect.poll(() => cursors(server)).toBe(1);
  // The first page is loading when another filter is applied.
  await page.getByRole('main').getByRole('button', { name: 'Refresh', exact: true }).click();
  await write(page, page.getByRole('search').getByRole('textbox'), '{ n: { $lt: 200 } }');
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/filter=/);
  await expect(loaded).toBeVisible();
  await expect.poll(() => cursors(server)).toBe(1);
  for (let turn = 0; turn < 2; turn += 1) {
    await page.reload();
    await expect(loaded).toBeVisible();
  }
  await expect.poll(() => cursors(server)).toBe(1);
  await page.getByRole('button', { name: 'Load all' }).click();
  await expect(page.getByText('200 documents match')).toBeVisible();
  await expect.poll(() => cursors(server)).toBe(0);
});

test('of a query, and of a page that is closed', async ({ page, server }) => {
  await fill(server);
  await page.goto('/mongo/app/log/query');
  const execute = page.getByRole('button', { name: 'Execute query' });
  for (let turn = 0; turn < 3; turn += 1) {
    await execute.click();
    await expect(page.locator('.query-summary')).toContainText('more available');
    await expect(execute).not.toHaveAttribute('aria-busy');
  }
  await expect.poll(() => cursors(server)).toBe(1);
  await page.close();
  await expect.poll(() => cursors(server)).toBe(0);
});

test('a page of a query that was lost is not passed over', async ({ page, server }) => {
  await fill(server);
  await page.goto('/mongo/app/log/query');
  await page.getByRole('button', { name: 'Execute query' }).click();
  await expect(page.locator('.query-summary')).toContainText('more available');
  let isLost = false;
  await page.route('**/_portal/api/mongo/app', async (route) => {
    if (isLost) return route.fallback();
    isLost = true;
    // The server has executed it; the response is lost.
    await route.fetch();
    return route.abort();
  });
  const next = page.getByRole('button', { name: 'Next', exact: true });
  await next.click();
  await expect(page.getByText('The server is not responding.').first()).toBeVisible();
  await next.click();
  await expect(page.getByText(/Execute the query again/).first()).toBeVisible();
  await expect.poll(() => cursors(server)).toBe(0);
});

test.describe('signed in', () => {
  test.use({ options: KEYED });

  for (const [who, key] of [
    ['writes', PRIMARY],
    ['only reads', READER],
  ] as const) {
    test(`of somebody who ${who} and signs out`, async ({ page, server }) => {
      await fill(server);
      const status = async () => {
        const headers = { authorization: `Bearer ${PRIMARY}` };
        return cursors(server, headers);
      };
      await page.goto('/mongo/app/log/items');
      await signIn(page, key);
      await expect(page.getByText('100 documents loaded')).toBeVisible();
      await expect.poll(status).toBe(1);
      await page.getByRole('button', { name: 'Sign out' }).click();
      await expect(page.getByLabel('Account key', { exact: true })).toBeVisible();
      await expect.poll(status).toBe(0);
    });
  }
});
