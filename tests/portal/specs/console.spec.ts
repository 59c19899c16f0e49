// The console: failures with the server's activity id. Also settings that survive a reload.
import { mongo } from '../lib/door';
import { expect, test } from '../lib/fixtures';
import { edit, open, write } from '../lib/items';

test('a request that failed has the activity id of the server', async ({ page, server }) => {
  const { database } = await server.cosmos.databases.create({ id: 'app' });
  const { container } = await database.containers.create({
    id: 'log',
    partitionKey: { paths: ['/id'] },
  });
  await container.items.create({ id: 'one' });
  await (await server.mongo())
    .db('app')
    .collection<{ _id: string }>('log')
    .insertOne({ _id: 'one' });
  await page.goto('/nosql/app/log/query');
  const lines = page.getByRole('list', { name: 'Requests and outcomes' }).getByRole('listitem');
  await page.getByRole('button', { name: /^\W*Console/ }).click();
  const query = page.getByRole('textbox', { name: 'Query', exact: true });
  await query.focus();
  await page.keyboard.press('Control+A');
  await page.keyboard.insertText('SELECT nonsense nonsense');
  const refused = page.waitForResponse((response) => response.status() === 400);
  await page.getByRole('button', { name: 'Execute query' }).click();
  const id = (await (await refused).headerValue('x-ms-activity-id')) ?? 'none';
  expect(id).toMatch(/^[0-9a-f-]{36}$/);
  const line = lines.filter({ hasText: id });
  await expect(line).toHaveCount(1);
  await expect(line).toContainText('Failed');
  await expect(line).toContainText('400');

  await page.goto('/mongo/app/log/query');
  const answered = page.waitForResponse(
    (response) => response.request().postData()?.includes('$nope') === true,
  );
  await page.getByRole('textbox', { name: 'Filter', exact: true }).focus();
  await page.keyboard.press('Control+A');
  await page.keyboard.insertText('{ a: { $nope: 1 } }');
  await page.getByRole('button', { name: 'Execute query' }).click();
  const other = (await (await answered).headerValue('x-ms-activity-id')) ?? 'none';
  expect(other).toMatch(/^[0-9a-f-]{36}$/);
  await expect(lines.filter({ hasText: other })).toContainText('Failed');
});

test('what succeeded is said in the bar', async ({ page, server }) => {
  await (await server.mongo())
    .db('app')
    .collection<{ _id: string }>('log')
    .insertOne({ _id: 'one' });
  await page.goto('/mongo/app/log/items');
  await open(page, 'one');
  await edit(page, 'n: 1');
  await page.locator('.items-commands').getByRole('button', { name: 'Save' }).click();
  await expect(page.getByRole('region', { name: 'Console' })).toContainText(
    'Successfully updated document',
  );
});

test('what was said of one collection does not stand under another', async ({ page, server }) => {
  const app = (await server.mongo()).db('app');
  for (const name of ['log', 'other']) {
    await app.collection<{ _id: string }>(name).insertOne({ _id: 'one' });
  }
  await page.goto('/mongo/app/log/items');
  const said = page.getByRole('region', { name: 'Console' }).getByText(/^Successfully/);
  await open(page, 'one');
  await edit(page, 'n: 1');
  await page.locator('.items-commands').getByRole('button', { name: 'Save' }).click();
  await expect(said).toHaveText(/updated document/);
  // The same page with another URL.
  await page.getByRole('button', { name: 'Close' }).click();
  await expect(page).not.toHaveURL(/item=/);
  await expect(said).toHaveCount(1);
  await page.getByRole('tree').getByRole('treeitem', { name: 'other', exact: true }).click();
  await expect(page).toHaveURL(/other/);
  await expect(said).toHaveCount(0);
  await page.goBack();
  await expect(page).toHaveURL(/log/);
  await expect(said).toHaveCount(0);
  // The outcome of the action that led to a page is shown there.
  await page.getByRole('button', { name: 'Delete collection' }).click();
  await page.getByRole('dialog').getByRole('textbox').fill('log');
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await expect(page).toHaveURL(/\/mongo\/app$/);
  await expect(said).toHaveText('Successfully deleted collection log');
});

test('the bar forgets a failure when the same succeeds, and counts what failed unseen', async ({
  page,
  server,
}) => {
  await mongo.put(server, 'one', {});
  await page.goto('/mongo/app/log/items');
  const box = page.getByRole('region', { name: 'Console' });
  const badge = box.getByText(/failed$/);
  await expect(page.getByText('1 document loaded')).toBeVisible();
  await expect(badge).toHaveCount(0);
  const filter = page.getByRole('textbox', { name: 'Filter', exact: true });
  await write(page, filter, '{ a: { $nope: 1 } }');
  await filter.press('Enter');
  // The list is loaded with the previous filter, so the bar may have lost the reason.
  await expect(page.getByText('unknown operator: $nope').first()).toBeVisible();
  await expect(badge).toHaveText('1 failed');
  await write(page, filter, '{ n: 1 }');
  await filter.press('Enter');
  await expect(box).not.toContainText('unknown operator');
  await expect(badge).toHaveText('1 failed');
  await box.getByRole('button', { name: /Console/ }).click();
  await expect(badge).toHaveCount(0);
  await box.getByRole('button', { name: /Console/ }).click();
  await expect(badge).toHaveCount(0);
});

test.describe('far from Greenwich', () => {
  test.use({ timezoneId: 'Asia/Tokyo', locale: 'en-US' });

  test('every time of the page is in UTC', async ({ page, server }) => {
    await mongo.put(server, 'one', {});
    await page.goto('/mongo/app/log/query');
    await page.getByRole('button', { name: 'Execute query' }).click();
    await expect(page.locator('.query-summary')).toContainText('1');
    await page.getByRole('tab', { name: 'History' }).click();
    const past = await page.locator('.query-history').getByRole('button').first().innerText();
    const said = /\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC/.exec(past)?.[0] ?? 'none';
    expect(Math.abs(Date.parse(said) - Date.now())).toBeLessThan(600_000);
    await page.getByRole('button', { name: /^\W*Console/ }).click();
    const lines = page.getByRole('list', { name: 'Requests and outcomes' }).getByRole('listitem');
    await expect(lines.last()).toContainText(/\d\d:\d\d:\d\d UTC/);
    await page.goto('/');
    await expect(page.getByLabel('Set to (UTC)')).toHaveAttribute(
      'placeholder',
      /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/,
    );
  });
});

test('the theme stays over a reload', async ({ page }) => {
  await page.emulateMedia({ colorScheme: 'light' });
  await page.goto('/');
  const ground = () =>
    page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  const light = await ground();
  await page.getByLabel('Theme').selectOption('Dark');
  await expect.poll(ground).not.toBe(light);
  const dark = await ground();
  await page.reload();
  await expect(page.getByLabel('Theme')).toHaveValue('dark');
  expect(await ground()).toBe(dark);
  await page.getByLabel('Theme').selectOption('System');
  await expect.poll(ground).toBe(light);
  await page.emulateMedia({ colorScheme: 'dark' });
  await expect.poll(ground).toBe(dark);
});
