// Explain: counts of documents, the plan, and the missing index, created with one click.
import type { Page } from '@playwright/test';
import { collection, container, fillWith, mongo, nosql } from '../lib/door';
import { expect, test } from '../lib/fixtures';
import { write } from '../lib/items';
import { KEYED, READER, signIn } from '../lib/login';
import { noted } from '../lib/pane';

const summary = (page: Page) => page.locator('.query-bar').getByRole('status');
const create = (page: Page) => page.getByRole('button', { name: 'Create and run again' });

async function run(page: Page, field: string, text: string) {
  await write(page, page.getByRole('textbox', { name: field, exact: true }), text);
  await page.keyboard.press('Control+Enter');
}

async function figure(page: Page, name: string): Promise<string> {
  const list = page.getByLabel('Of the query', { exact: true }).locator('.figure');
  return list.filter({ hasText: name }).getByRole('definition').innerText();
}

test('MongoDB: a scan, the advice, the index', async ({ page, server }) => {
  await mongo.create(server, null);
  await fillWith(server, mongo, 500);
  await page.goto('/mongo/app/log/query');
  await run(page, 'Filter', '{ n: 7 }');
  await expect(summary(page)).toContainText('1 result,');
  await page.getByRole('tab', { name: 'Explain' }).click();
  const plan = page.getByRole('list', { name: 'Plan' });
  await expect(plan).toContainText('COLLSCAN');
  await expect(plan).toContainText('500 documents examined');
  expect(await figure(page, 'Documents examined')).toBe('500');
  expect(await figure(page, 'Documents returned')).toBe('1');
  expect(await figure(page, 'Index used')).toBe('none');
  await expect(
    page.getByText('This query scanned 500 documents to return 1. Suggested index: { n: 1 }.'),
  ).toBeVisible();

  await create(page).focus();
  await page.keyboard.press('Enter');
  await noted(page, 'Created index n_1 on app.log.');
  await expect(plan).toContainText('IXSCAN n_1 { n: 1 } 1 key examined');
  expect(await figure(page, 'Documents examined')).toBe('1');
  expect(await figure(page, 'Index used')).toBe('n_1');
  await expect(create(page)).toHaveCount(0);
  const indexes = await (await collection(server)).indexes();
  expect(indexes.map(({ name }) => name)).toEqual(['_id_', 'n_1']);
});

test('a pipeline that writes is not explained', async ({ page, server }) => {
  await mongo.create(server, null);
  await fillWith(server, mongo, 3);
  await page.goto('/mongo/app/log/query');
  await page.getByRole('radio', { name: 'Pipeline' }).check();
  await run(page, 'Pipeline', '[{ $match: { n: 1 } }, { $out: "other" }]');
  await page.getByRole('tab', { name: 'Explain' }).click();
  await expect(page.getByRole('alert').first()).toContainText(/would repeat the writes|\$out/);
});

test('NoSQL: what the policy lacks', async ({ page, server }) => {
  await nosql.create(server, null);
  await fillWith(server, nosql, 300);
  const { resource } = await container(server).read();
  if (resource === undefined) throw new Error('there is no container');
  await container(server).replace({
    ...resource,
    indexingPolicy: { includedPaths: [{ path: '/user/?' }], excludedPaths: [{ path: '/*' }] },
  });
  await page.goto('/nosql/app/log/query');
  await run(page, 'Query', 'SELECT * FROM c WHERE c.n = 7');
  await expect(
    page.getByText(
      'This query scanned 300 documents to return 1. Suggested paths to include: /n/?.',
    ),
  ).toBeVisible();
  await create(page).click();
  await noted(page, 'The indexing policy of log now includes /n/?.');
  await expect(create(page)).toHaveCount(0);
  await page.getByRole('tab', { name: 'Explain' }).click();
  const plan = page.getByRole('list', { name: 'Plan' });
  await expect(plan).toContainText('Read by index');
  expect(await figure(page, 'Documents examined')).toBe('1');
  await run(page, 'Query', 'SELECT * FROM c WHERE c.n > 7 ORDER BY c.user DESC');
  await expect(plan).toContainText('Sort by /user descending');
  const after = (await container(server).read()).resource?.indexingPolicy;
  expect(after?.includedPaths?.map(({ path }) => path)).toEqual(['/user/?', '/n/?']);
});

test.describe('signed in', () => {
  test.use({ options: KEYED });

  test('whoever only reads is told, and creates nothing', async ({ page, server }) => {
    await mongo.create(server, null);
    await fillWith(server, mongo, 200);
    await page.goto('/mongo/app/log/query');
    await signIn(page, READER);
    await run(page, 'Filter', '{ n: 7 }');
    await page.getByRole('tab', { name: 'Explain' }).click();
    await expect(create(page)).toBeDisabled();
  });
});
