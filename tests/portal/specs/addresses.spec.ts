// Everything that is shown has a URL that reproduces it; back and forward work.
import { mongo } from '../lib/door';
import { expect, test } from '../lib/fixtures';
import { open } from '../lib/items';

test('the time that charts show', async ({ page }) => {
  await page.goto('/monitor?hours=6');
  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const pressed = (name: string) => expect(button(name)).toHaveAttribute('aria-pressed', 'true');
  await pressed('6 hours');
  await button('24 hours').click();
  await expect(page).toHaveURL(/\/monitor\?hours=24$/);
  await button('1 hour').click();
  await expect(page).toHaveURL(/\/monitor$/);
  await page.goBack();
  await pressed('24 hours');
  await page.goBack();
  await pressed('6 hours');
  await page.goForward();
  await pressed('24 hours');
  await page.goto('/monitor?from=2026-11-27T03:00:00Z&to=2026-11-27T03:10:00Z');
  await expect(page.getByText('2026-11-27 03:00:00 UTC to 2026-11-27 03:10:00 UTC')).toBeVisible();
  await button('Show all').click();
  await expect(page).toHaveURL(/\/monitor$/);
  await page.goBack();
  await expect(page).toHaveURL(/from=2026-11-27T03:00:00Z/);

  await page.getByLabel('Latencies of').selectOption('since server start');
  await expect(page).toHaveURL(/latencies=all/);
  await page.reload();
  await expect(page.getByLabel('Latencies of')).toHaveValue('all');
});

test('the filter of a database, and the open console', async ({ page, server }) => {
  for (const name of ['carts', 'sessions']) {
    await (await server.mongo()).db('app').createCollection(name);
  }
  await page.goto('/mongo/app');
  const main = page.getByRole('main');
  await main.getByRole('searchbox').fill('sess');
  await expect(main.getByText('1 collection', { exact: true })).toBeVisible();
  await page.getByRole('button', { name: /^\W*Console/ }).click();
  await expect(page).toHaveURL(/\/mongo\/app\?filter=sess&console=open$/);
  const address = page.url();
  // The parameter is kept across pages.
  await page.getByRole('link', { name: 'Home' }).click();
  await expect(page).toHaveURL(/\/\?console=open$/);
  const lines = page.getByRole('list', { name: 'Requests and outcomes' });
  await expect(lines).toBeVisible();
  await page.getByRole('button', { name: /^\W*Console/ }).click();
  await expect(page).toHaveURL(/\/$/);
  await expect(lines).toHaveCount(0);
  await page.goto(address);
  await expect(main.getByText('1 collection', { exact: true })).toBeVisible();
  await expect(lines).toBeVisible();
});

test('Copy link copies the address of the open item', async ({ page, server, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await mongo.create(server, null);
  for (const id of ['one', 'two']) await mongo.put(server, id, {});
  await page.goto('/mongo/app/log/items');
  await open(page, 'two');
  await page.getByRole('button', { name: 'Copy link' }).first().click();
  await expect(page.getByText('Copied the link to this page').first()).toBeVisible();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  expect(copied).toBe(page.url());
  await page.goto('/');
  await page.goto(copied);
  await expect(page.getByRole('region', { name: 'Document "two"' })).toBeVisible();
});
