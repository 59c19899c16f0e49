// Throttled requests are retried a bounded number of times, and the page shows that they wait.
import { CosmosClient } from '@azure/cosmos';
import type { Page, Route } from '@playwright/test';
import { nosql } from '../lib/door';
import { expect, test } from '../lib/fixtures';
import { editor, openItem, row, saveItem, write } from '../lib/items';
import { WELL_KNOWN_KEY } from '../lib/server';

const LIST = '**/_portal/api/nosql/dbs/app/colls/log/docs';
const banner = (page: Page) => page.getByText(/Requests are retried automatically/);

/** Excludes background polling for changes by others. */
const asksForList = (route: Route) => route.request().method() === 'POST';

function refuse(route: Route, afterMs: number) {
  const headers = { 'x-ms-retry-after-ms': String(afterMs), 'x-ms-substatus': '3200' };
  const json = {
    code: 'TooManyRequests',
    message: 'Message: {"Errors":["Request rate is large."]}',
  };
  return route.fulfill({ status: 429, headers, json });
}

test('a list waits, says so, and comes', async ({ page, server }) => {
  await nosql.create(server, null);
  await nosql.put(server, 'one', {});
  let refused = 0;
  await page.route(LIST, (route) => {
    if (!asksForList(route)) return route.fallback();
    refused += 1;
    return refused <= 3 ? refuse(route, 700) : route.fallback();
  });
  await page.goto('/nosql/app/log/items');
  await expect(banner(page)).toBeVisible();
  await expect(row(page, nosql, 'one')).toBeVisible();
  await expect(banner(page)).toHaveCount(0);
  await expect(page.getByRole('alert')).toHaveCount(0);
  expect(refused).toBe(4);
});

test('a change is done once, when it is taken', async ({ page, server }) => {
  await nosql.create(server, null);
  await nosql.put(server, 'one', { n: 1 });
  await page.goto('/nosql/app/log/items');
  const pane = await openItem(page, nosql, 'one');
  await write(page, editor(pane), nosql.text('one', '"n": 2'));
  let sent = 0;
  await page.route(`${LIST}/one`, (route) => {
    if (route.request().method() !== 'PUT') return route.fallback();
    sent += 1;
    return sent <= 2 ? refuse(route, 50) : route.fallback();
  });
  await saveItem(page, pane, 'updated item one');
  expect(sent).toBe(3);
  expect(await nosql.get(server, 'one')).toEqual({ n: 2 });
});

test('a list that is refused again and again', async ({ page, server }) => {
  await nosql.create(server, null);
  await nosql.put(server, 'one', {});
  let [sent, aside] = [0, 0];
  await page.route(LIST, (route) => {
    if (asksForList(route)) sent += 1;
    else aside += 1;
    return refuse(route, 30);
  });
  await page.goto('/nosql/app/log/items?filter=WHERE%20true');
  const failure = page
    .getByRole('main')
    .getByRole('alert')
    .filter({ hasText: 'Request rate is large.' });
  await expect(failure).toBeVisible();
  expect(sent).toBe(10);
  // Background requests are not retried at once, only polled every three seconds.
  const polls = (await page.evaluate(() => performance.now())) / 3000;
  expect(aside).toBeLessThan(4 + polls);
  // It is not an error of the filter.
  await expect(page.getByRole('search').getByRole('textbox')).toHaveAttribute(
    'aria-invalid',
    'false',
  );
  await expect(failure.getByRole('link', { name: 'Scale & Settings' })).toHaveAttribute(
    'href',
    '/nosql/app/log/settings',
  );
  await page.unroute(LIST);
  await failure.getByRole('button', { name: 'Try again' }).click();
  await expect(row(page, nosql, 'one')).toBeVisible();
  await expect(failure).toHaveCount(0);
});

test.describe('of few request units', () => {
  test.use({ options: { flags: ['--enforce-throughput'], clock: 'system' } });

  test('a list when all of them are used up', async ({ page, server }) => {
    const { database } = await server.cosmos.databases.create({ id: 'app' });
    const definition = { id: 'log', partitionKey: { paths: ['/id'] }, throughput: 400 };
    await database.containers.create(definition);
    // Without retries, so that it stops when the budget is used up.
    const connectionPolicy = {
      enableEndpointDiscovery: false,
      retryOptions: {
        maxRetryAttemptCount: 0,
        fixedRetryIntervalInMilliseconds: 0,
        maxWaitTimeInSeconds: 0,
      },
    };
    const greedy = new CosmosClient({
      endpoint: `http://${server.ready.cosmos}`,
      key: WELL_KNOWN_KEY,
      connectionPolicy,
    });
    const { items } = greedy.database('app').container('log');
    const useUp = () =>
      Promise.allSettled(Array.from({ length: 120 }, (_, at) => items.upsert({ id: `x${at}` })));
    await items.upsert({ id: 'one' });
    let refused = 0;
    page.on('response', (response) => {
      if (response.status() === 429) refused += 1;
    });
    await page.goto('/nosql/app/log/items?filter=WHERE%20c.id%20%3D%20%22one%22');
    await expect(row(page, nosql, 'one')).toBeVisible();
    for (let turn = 0; turn < 40 && refused === 0; turn += 1) {
      await useUp();
      await page.getByRole('main').getByRole('button', { name: 'Refresh', exact: true }).click();
      await expect(page.getByText('1 item matches')).toBeVisible();
      await expect(page.getByText(/loading…/)).toHaveCount(0);
    }
    expect(refused).toBeGreaterThan(0);
    await expect(row(page, nosql, 'one')).toBeVisible();
    await expect(page.getByRole('alert')).toHaveCount(0);
  });
});
