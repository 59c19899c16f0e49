// The address bar names what is shown: every page can be opened by its address, reloaded, and reached
// with back and forward.
import { expect, test } from '../lib/fixtures';

const NAMES = { database: 'a b', collection: 'c/d ü' };
const [DATABASE, COLLECTION] = [NAMES.database, NAMES.collection].map(encodeURIComponent);

test('every page by its address', async ({ page, server }) => {
  const collection = (await server.mongo()).db('app').collection('logs');
  await collection.insertOne({ n: 1 });
  const pages: [string, RegExp][] = [
    ['/', /EbbDB/],
    ['/features', /Features/],
    ['/monitor', /Metrics/],
    ['/mongo/app', /app/],
    ['/mongo/app/logs/items', /logs · Items/],
    ['/mongo/app/logs/settings', /logs · Scale & Settings/],
    ['/mongo/app/logs/query', /logs · Query/],
    ['/mongo/app/logs/metrics', /logs · Metrics/],
  ];
  for (const [path, title] of pages) {
    await page.goto(path);
    await expect(page).toHaveTitle(title);
    await page.reload();
    await expect(page).toHaveTitle(title);
    expect(new URL(page.url()).pathname).toBe(path);
  }
  for (const [path, title] of pages.slice(0, -1).reverse().slice(0, 3)) {
    await page.goBack();
    await expect(page).toHaveTitle(title);
    expect(new URL(page.url()).pathname).toBe(path);
  }
  await page.goForward();
  await expect(page).toHaveTitle(/Scale & Settings|Query/);
});

test('names with separators and a filter survive', async ({ page, server }) => {
  const databases = server.cosmos.databases;
  const { database } = await databases.create({ id: NAMES.database });
  const id = 'ü d';
  const { container } = await database.containers.create({ id, partitionKey: { paths: ['/id'] } });
  await container.items.create({ id: 'one' });
  await container.items.create({ id: 'two' });
  const filter = "WHERE c.id = 'two'";
  const path = `/nosql/${DATABASE}/${encodeURIComponent(id)}/items`;
  await page.goto(`${path}?filter=${encodeURIComponent(filter)}`);
  const cell = (name: string) => page.getByRole('grid').getByRole('gridcell', { name, exact: true });
  await expect(cell('two').first()).toBeVisible();
  await expect(cell('one')).toHaveCount(0);
  expect(COLLECTION).toContain('%2F');
});

test('what is not there says so', async ({ page, server }) => {
  await server.mongo();
  await page.goto('/no/such/page');
  await expect(page.getByText('There is no such page')).toBeVisible();
  await page.goto('/nosql/none/none/items');
  await expect(page.getByRole('alert').first()).toBeVisible();
});
