// What was done shows in the corner, and can be closed; failures stay in the page.
import { expect, test } from '../lib/fixtures';

test('an outcome shows in the corner and is closed by the keyboard', async ({ page, server }) => {
  await page.goto(`${server.url}/features`);
  await page.getByRole('switch').first().click();
  await page.getByRole('dialog').getByRole('button', { name: 'Turn off' }).click();
  const toasts = page.getByRole('region', { name: 'Notifications' });
  const said = 'Per-document TTL for MongoDB collections is off now';
  await expect(toasts.getByText(said)).toBeVisible();
  await toasts.getByRole('button', { name: `Dismiss: ${said}` }).press('Enter');
  await expect(toasts.getByText(said)).toHaveCount(0);
  await expect(page.getByRole('region', { name: 'Console' })).toContainText(said);
});

test('the type is of the portal itself', async ({ page, server }) => {
  await page.goto(server.url);
  await expect(page.getByRole('heading').first()).toBeVisible();
  const isLoaded = () => page.evaluate(() => document.fonts.check("14px 'Inter Latin'"));
  await expect.poll(isLoaded).toBe(true);
  const foreign = await page.evaluate(() =>
    performance
      .getEntriesByType('resource')
      .map(({ name }) => name)
      .filter((name) => !name.startsWith(location.origin)),
  );
  expect(foreign).toEqual([]);
});
