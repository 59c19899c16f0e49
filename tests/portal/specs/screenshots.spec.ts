// Pictures for README and docs/operations.md, taken of a real sample with a manual clock. Written
// to docs/images with EBB_SCREENSHOTS=1, else to the output folder of the run.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '../lib/fixtures';
import { impact } from '../lib/pane';

const out =
  process.env.EBB_SCREENSHOTS === '1'
    ? join(process.env.EBB_ROOT ?? '.', 'docs/images')
    : join(process.env.EBB_PORTAL_OUT ?? '/tmp', 'images');

test.use({ deviceScaleFactor: 1 });

test('pictures', async ({ page, server }) => {
  mkdirSync(out, { recursive: true });
  await (await server.mongo())
    .db('admin')
    .command({ ebbClock: 1, set: new Date('2030-03-01T09:00:00Z') });
  await page.request.post(`${server.url}/_ebb/quickstart`, { data: {} });
  await server.advance(8);
  const picture = (name: string) => page.screenshot({ path: join(out, `${name}.png`) });

  await page.goto('/nosql/quickstart/sessions/settings');
  await page.getByRole('radio', { name: 'On', exact: true }).check();
  await page.locator('#timeToLiveSeconds').fill('5');
  await expect(impact(page)).toContainText(/ of \d+/);
  await picture('settings');

  await page.goto('/nosql/quickstart/sessions/items');
  await page.getByRole('grid').getByRole('row').nth(2).click();
  await expect(page.getByRole('textbox', { name: 'Item', exact: true })).toContainText('"id"');
  await picture('items');

  await page.emulateMedia({ colorScheme: 'dark' });
  await page.goto('/mongo/quickstart/sessions/metrics');
  await expect(page.getByRole('heading').first()).toBeVisible();
  await page.waitForLoadState('networkidle');
  await picture('metrics');
});
