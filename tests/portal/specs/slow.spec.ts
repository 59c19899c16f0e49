// Slow operations on the metrics page, with links to their queries; a server that records none.
import type { Page } from '@playwright/test';
import { DOORS, fillWith, mongo } from '../lib/door';
import { expect, test } from '../lib/fixtures';
import { innocent } from '../lib/innocent';

const table = (page: Page) => page.getByRole('region', { name: 'Slow operations' });

const OPERATION = {
  at: '2026-11-27T03:00:00.000Z',
  database: 'app',
  collection: 'log',
  duration_ms: 1234,
  examined: 4540,
  returned: 1,
  plan: 'scan',
  failed: false,
  client: 'checkout',
  request: '812',
};
const OPERATIONS = [
  {
    ...OPERATION,
    api: 'mongo',
    operation: 'find',
    query: '{ find: "log", filter: { n: 7 }, sort: { n: -1 } }',
  },
  {
    ...OPERATION,
    api: 'nosql',
    operation: 'query',
    duration_ms: 150,
    query: '{"query":"SELECT * FROM c WHERE c.n = @n","parameters":[{"name":"@n","value":3}]}',
  },
  { ...OPERATION, api: 'mongo', operation: 'update', query: null },
];

async function answer(page: Page, body: unknown, status = 200) {
  await page.route('**/_ebb/slow', (route) => route.fulfill({ status, json: body }));
}

test('each leads to its query', async ({ page, server }) => {
  for (const door of DOORS) {
    await door.create(server, null);
    await fillWith(server, door, 20);
  }
  await answer(page, { threshold_ms: 100, operations: OPERATIONS });
  await page.goto('/monitor');
  await expect(
    page.getByText('3 operations of the last day took 100 ms or more.', { exact: true }),
  ).toBeVisible();
  const rows = table(page).getByRole('row');
  await expect(rows).toHaveCount(4);
  await expect(rows.nth(1)).toContainText('1,234 ms');
  await expect(rows.nth(3)).toContainText('SELECT * FROM c WHERE c.n = 3');
  await expect(rows.nth(1)).toContainText('{ n: 7 }, sort { n: -1 }');
  await expect(rows.nth(2)).toContainText('not recorded');
  await expect(rows.nth(2).getByRole('link')).toHaveCount(0);
  // After a reload the drafts have precedence over the URL, so follow the link again.
  await page.reload();

  const link = (api: string) => table(page).getByRole('link', { name: `Open in Query: ${api}` });
  await link('find').focus();
  await page.keyboard.press('Enter');
  await expect(page.getByRole('textbox', { name: 'Filter' })).toHaveText('{ n: 7 }');
  await expect(page.getByRole('textbox', { name: 'Sort' })).toHaveText('{ n: -1 }');
  await page.getByRole('button', { name: 'Execute query' }).click();
  await expect(page.locator('.query-bar').getByRole('status')).toContainText('1 result,');

  await page.goBack();
  await link('query').click();
  const query = page.getByRole('textbox', { name: 'Query' });
  await expect(query).toHaveText('SELECT * FROM c WHERE c.n = 3');
  await page.getByRole('button', { name: 'Execute query' }).click();
  await expect(page.locator('.query-bar').getByRole('status')).toContainText('1 result,');
});

test('none, none noted, and a server that has no such list', async ({ page }) => {
  await answer(page, { threshold_ms: 100, operations: [] });
  await page.goto('/monitor');
  await expect(
    page.getByText('No operation took 100 ms or more in the last day.', { exact: true }),
  ).toBeVisible();
  await page.unroute('**/_ebb/slow');
  await answer(page, { threshold_ms: null, operations: [] });
  await page.reload();
  await expect(page.getByText('Recording of slow operations is off')).toBeVisible();
  await page.unroute('**/_ebb/slow');
  await answer(page, { error: { code: 'NotFound', message: 'There is no such path.' } }, 404);
  await page.reload();
  await expect(page.getByRole('region', { name: 'Latencies' })).toBeVisible();
  await expect(page.getByRole('heading', { name: 'Slow operations' })).toHaveCount(0);
});

test("the portal's own are shown on demand", async ({ page }) => {
  const own = { ...OPERATION, api: 'mongo', operation: 'ebbExpiry', query: null, portal: true };
  const operations = [own, ...OPERATIONS.slice(0, 1), { ...own, operation: 'collStats' }];
  await answer(page, { threshold_ms: 100, operations });
  await page.goto('/monitor');
  const rows = table(page).getByRole('row');
  await expect(rows).toHaveCount(2);
  await expect(page.getByText('1 operation of the last day took')).toBeVisible();
  const also = page.getByRole('checkbox', { name: 'Include operations of the portal (2)' });
  await also.focus();
  await page.keyboard.press('Space');
  await expect(rows).toHaveCount(4);
  await expect(page.getByText('3 operations of the last day took')).toBeVisible();
  await page.keyboard.press('Space');
  await expect(rows).toHaveCount(2);
});

test('those of one shape are one line, which unfolds', async ({ page, server }) => {
  await mongo.create(server, null);
  await fillWith(server, mongo, 20);
  const long = `{ n: 5, text: "${'x'.repeat(300)}" }`;
  const find = (filter: string, duration_ms: number, minute: number) => ({
    ...{ ...OPERATION, api: 'mongo', operation: 'find', duration_ms },
    at: `2026-11-27T03:0${minute}:00.000Z`,
    query: `{ find: "log", filter: ${filter} }`,
  });
  const operations = [
    find('{ n: 3 }', 200, 1),
    find('{ n: 4 }', 1000, 3),
    find('{ n: 3 }', 300, 2),
    find(long, 1400, 4),
  ];
  await answer(page, { threshold_ms: 100, operations });
  await page.goto('/monitor');
  await expect(page.getByText('Operations that differ only in values are grouped.')).toBeVisible();
  const fold = (name: string) => page.getByRole('button', { name, exact: true });
  const line = table(page)
    .getByRole('row')
    .filter({ has: fold('find of log, 3 times') });
  await expect(line.getByRole('cell')).toHaveText([
    ...['app › log', '{ n: ? }', '3', '1,000 ms', '1,500 ms'],
    ...['2026-11-27 03:03:00 UTC', 'Open in Query'],
  ]);
  // Long text is truncated, and shown whole when focused.
  const other = table(page)
    .getByRole('row')
    .filter({ has: fold('find of log, once') });
  const height = async () => (await other.boundingBox())?.height ?? 0;
  const one = await height();
  await expect(other.locator('code')).toHaveAttribute('title', long);
  await fold('find of log, once').focus();
  await expect.poll(height).toBeGreaterThan(one * 1.5);

  await fold('find of log, 3 times').focus();
  await page.keyboard.press('Enter');
  const singles = table(page).getByRole('table', { name: 'Single operations' });
  await expect(singles.getByRole('row')).toHaveCount(4);
  await expect(singles.getByRole('row').nth(1)).toContainText('4,540');
  await innocent(page, 'slow operations, unfolded');
  await singles.getByRole('link', { name: 'Open in Query: find of log, 300 ms' }).click();
  await expect(page.getByRole('textbox', { name: 'Filter' })).toHaveText('{ n: 3 }');
});

test('those of a collection stand on its page', async ({ page, server }) => {
  for (const door of DOORS) await door.create(server, null);
  const others = OPERATIONS.map((one) => ({ ...one, collection: 'other' }));
  await answer(page, { threshold_ms: 100, operations: [...others, ...OPERATIONS] });
  for (const [door, operation, many] of [
    ['mongo', 'find', 2],
    ['nosql', 'query', 1],
  ] as const) {
    await page.goto(`/${door}/app/log/metrics`);
    const one = many === 1 ? 'operation' : 'operations';
    await expect(page.getByText(`${many} ${one} of the last day took 100 ms`)).toBeVisible();
    await expect(table(page).getByRole('row')).toHaveCount(many + 1);
    await table(page)
      .getByRole('link', { name: `Open in Query: ${operation} of log` })
      .click();
    await expect(page).toHaveURL(new RegExp(`/${door}/app/log/query\\?q=`));
  }
});

test.describe('a server to which all is slow', () => {
  test.use({ options: { flags: ['--slow-ms', '0'] } });

  test('what was asked of it is opened as it was asked', async ({ page, server }) => {
    for (const door of DOORS) {
      await door.create(server, null);
      await fillWith(server, door, 20);
    }
    const log = (await server.mongo()).db('app').collection('log');
    await log.find({ n: { $gte: 7 } }, { sort: { n: -1 }, limit: 2 }).toArray();
    const parameters = [{ name: '@n', value: 3 }];
    const query = { query: 'SELECT * FROM c WHERE c.n = @n', parameters };
    await server.cosmos.database('app').container('log').items.query(query).fetchAll();
    await page.goto('/monitor');
    const link = (operation: string) =>
      table(page).getByRole('link', { name: `Open in Query: ${operation} of log` });
    await link('find').click();
    await expect(page.getByRole('textbox', { name: 'Filter' })).toHaveText('{ n: { $gte: 7 } }');
    await expect(page.getByRole('textbox', { name: 'Sort' })).toHaveText('{ n: -1 }');
    await page.goBack();
    await link('query').click();
    await expect(page.getByRole('textbox', { name: 'Query' })).toHaveText(
      'SELECT * FROM c WHERE c.n = 3',
    );
  });
});
