// Every page can be opened by its URL, reloaded, and reached with back and forward.
import { expect, test } from '../lib/fixtures';
import { fontsReady } from '../lib/layout';

test('every page by its address', async ({ page, server }) => {
  const collection = (await server.mongo()).db('app').collection('logs');
  await collection.insertOne({ n: 1 });
  const pages: [string, RegExp][] = [
    ['/', /EbbDB/],
    ['/features', /Features/],
    ['/monitor', /Metrics/],
    ['/mongo/app', /app/],
    ['/mongo/app/logs/items', /logs · Items/],
    ['/mongo/app/logs/schema', /logs · Schema/],
    ['/mongo/app/logs/settings', /logs · Scale & settings/],
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
  await expect(page).toHaveTitle(/settings|Query/);
});

test('names with separators and a filter survive', async ({ page, server }) => {
  const [databaseId, id, collection] = ['a b', 'ü d', 'c/d ü'];
  const { database } = await server.cosmos.databases.create({ id: databaseId });
  const { container } = await database.containers.create({ id, partitionKey: { paths: ['/id'] } });
  for (const one of ['one', 'two']) await container.items.create({ id: one });
  const documents = [{ _id: 'one' }, { _id: 'two' }] as never[];
  await (await server.mongo()).db('ab').collection(collection).insertMany(documents);
  const cell = (name: string) =>
    page.getByRole('grid').getByRole('gridcell', { name, exact: true });
  const filters: [parts: string[], filter: string, shown: string, hidden: string][] = [
    [['nosql', databaseId, id], "WHERE c.id = 'two'", 'two', 'one'],
    [['mongo', 'ab', collection], '{ _id: "two" }', '"two"', '"one"'],
  ];
  for (const [parts, filter, shown, hidden] of filters) {
    const path = `/${parts.map(encodeURIComponent).join('/')}/items`;
    await page.goto(`${path}?filter=${encodeURIComponent(filter)}`);
    await expect(cell(shown).first()).toBeVisible();
    await expect(cell(hidden)).toHaveCount(0);
    expect(new URL(page.url()).pathname).toBe(path);
  }
});

test('what is not there says so', async ({ page, server }) => {
  await server.mongo();
  await page.goto('/no/such/page');
  await expect(page.getByText('Page not found')).toBeVisible();
  await page.goto('/nosql/none/none/items');
  await expect(page.getByText('There is no database none.')).toBeVisible();
});

test('a page asks together for what does not depend on each other', async ({ page, server }) => {
  const { database } = await server.cosmos.databases.create({ id: 'app' });
  await database.containers.create({ id: 'log', partitionKey: { paths: ['/id'] } });
  // The definition is requested before the forecast has arrived.
  let giveForecast = () => {};
  const held = new Promise<void>((done) => {
    giveForecast = done;
  });
  await page.route(/\/expiry(\?|$)/, async (route) => {
    await held;
    await route.continue();
  });
  const asked = page.waitForRequest((request) => /\/colls\/log$/.test(request.url()));
  await page.goto('/nosql/app/log/items');
  await asked;
  await expect(page.getByRole('grid')).toHaveCount(0);
  giveForecast();
  await expect(page.getByRole('grid')).toBeVisible();
});

test('the list of a database fits a telephone', async ({ page, server }) => {
  const { database } = await server.cosmos.databases.create({ id: 'app' });
  await database.containers.create({ id: 'log', partitionKey: { paths: ['/id'] }, defaultTtl: 60 });
  await database.container('log').items.create({ id: 'one' });
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto('/nosql/app');
  const table = page.getByRole('table', { name: /containers of app/ });
  for (const name of ['Name', 'Default TTL', 'Live', 'Expires in 1 hour']) {
    await expect(table.getByRole('columnheader', { name })).toBeInViewport({ ratio: 1 });
  }
  const cells = table.getByRole('row').filter({ hasText: 'log' }).getByRole('cell');
  await expect(cells).toHaveText(['log', '1 minute', '1', '1', '']);
  await fontsReady(page);
  expect(await table.evaluate((one) => one.scrollWidth <= one.clientWidth)).toBe(true);
});
