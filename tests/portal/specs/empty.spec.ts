// Empty lists offer a next step; the list's state is in the URL, and loading can be stopped.
import { DOORS, mongo } from '../lib/door';
import { expect, test } from '../lib/fixtures';
import { innocent } from '../lib/innocent';
import { editor, rows } from '../lib/items';

for (const door of DOORS) {
  test(`${door.name}: an empty collection offers what fills it`, async ({ page, server }) => {
    await door.create(server, null);
    await page.goto(`/${door.name}/app/log/items`);
    await expect(page.getByText(`There are no ${door.noun}s.`)).toBeVisible();
    await innocent(page, 'empty list');
    await page.getByRole('button', { name: 'Import a file' }).click();
    await expect(page.getByRole('dialog')).toContainText('Import into app › log');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: `Create the first ${door.noun}` }).click();
    await expect(editor(page)).toBeFocused();
  });
}

test('what nothing fits can be given up, and the choice stands in the address', async ({
  page,
  server,
}) => {
  await mongo.create(server, 60);
  await mongo.put(server, 'one', { n: 1 });
  await page.goto('/mongo/app/log/items');
  await expect(rows(page)).toHaveCount(1);
  await page.locator('.items-quick select').selectOption('never expires');
  await expect(page).toHaveURL(/[?&]show=never/);
  await expect(page.getByText('No matching documents.')).toBeVisible();
  await page.reload();
  await expect(page.getByText('No matching documents.')).toBeVisible();
  await expect(page.locator('.items-quick select')).toHaveValue('never');
  await page.getByRole('button', { name: 'Show all documents' }).click();
  await expect(rows(page)).toHaveCount(1);
  await expect(page).not.toHaveURL(/show=/);
  await page.goBack();
  await expect(page.getByText('No matching documents.')).toBeVisible();
});

test('loading all can be stopped, and gone on with', async ({ page, server }) => {
  const log = (await server.mongo()).db('app').collection<{ _id: number }>('log');
  await log.insertMany(Array.from({ length: 3500 }, (_, at) => ({ _id: at })));
  let release: (() => void) | undefined;
  await page.route('**/_portal/api/mongo/app', async (route) => {
    const body = route.request().postDataBuffer()?.toString('latin1') ?? '';
    if (body.includes('getMore') && release === undefined) {
      await new Promise<void>((done) => {
        release = done;
      });
    }
    await route.fallback();
  });
  await page.goto('/mongo/app/log/items');
  await expect(page.getByText('100 documents loaded, 3,500 live')).toBeVisible();
  await page.getByRole('button', { name: 'Load all' }).click();
  const stop = page.getByRole('button', { name: 'Stop' });
  await stop.click();
  await expect(stop).toHaveCount(0);
  release?.();
  await page.getByRole('button', { name: 'Load all' }).click();
  await expect(page.getByText('3,500 documents loaded, 3,500 live')).toBeVisible();
});

test('a telephone scrolls no page sideways', async ({ page, server }) => {
  await mongo.create(server, 60);
  await mongo.put(server, 'one', { n: 1 });
  await page.setViewportSize({ width: 390, height: 844 });
  for (const path of ['items', 'schema', 'settings', 'query', 'metrics']) {
    await page.goto(`/mongo/app/log/${path}`);
    await expect(page.getByRole('button', { name: 'Delete collection' })).toBeVisible();
    const far = await page.evaluate(() => {
      const all = [document.documentElement, ...document.querySelectorAll('main, .items')];
      return all.map((one) => one.scrollWidth - one.clientWidth);
    });
    expect(Math.max(...far), path).toBe(0);
  }
});
