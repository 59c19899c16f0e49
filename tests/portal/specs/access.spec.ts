// An account with its own keys requires a login: login, wrong keys, read-only mode, logout.
import { expect, test } from '../lib/fixtures';
import { KEYED, PRIMARY, READER, signIn } from '../lib/login';

test.use({ options: KEYED });

test.beforeEach(async ({ server }) => {
  const { database } = await server.cosmos.databases.create({ id: 'app' });
  const definition = { id: 'sessions', partitionKey: { paths: ['/id'] }, defaultTtl: 3600 };
  const { container } = await database.containers.create(definition);
  await container.items.create({ id: 'one' });
});

test('a key opens the page that was asked for, and leaving closes it', async ({
  page,
  context,
}) => {
  await page.goto('/nosql/app/sessions/settings');
  await signIn(page, Buffer.alloc(64).toString('base64'));
  await expect(page.getByRole('alert')).toBeVisible();
  await signIn(page, PRIMARY);
  await expect(page.getByRole('radio', { name: 'On', exact: true })).toBeChecked();
  const cookies = await context.cookies();
  expect(cookies).toMatchObject([{ name: 'ebb_session', httpOnly: true, sameSite: 'Strict' }]);
  expect(cookies[0]?.value).not.toContain(PRIMARY);
  await page.reload();
  await expect(page.getByRole('radio', { name: 'On', exact: true })).toBeChecked();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await expect(page.getByLabel('Account key', { exact: true })).toBeVisible();
  expect(await context.cookies()).toEqual([]);
});

test('a read-only key sees and changes nothing', async ({ page, server }) => {
  await page.goto('/nosql/app/sessions/items');
  await signIn(page, READER);
  await expect(page.getByText('read-only', { exact: false }).first()).toBeVisible();
  await expect(page.getByRole('grid').getByText('one')).toBeVisible();
  await expect(page.getByRole('button', { name: /^New item/i })).toBeDisabled();
  await page.getByRole('tab', { name: /^(Scale & settings|Settings)/ }).click();
  await expect(page.getByRole('radio', { name: 'Off', exact: true })).toBeDisabled();
  await page.goto('/features');
  await expect(page.getByRole('switch')).toBeDisabled();
  // The server refuses it even if the page allows it.
  const csrf = await page.evaluate(async () => {
    const asked = await fetch('/_portal/api/session');
    return ((await asked.json()) as { csrf: string }).csrf;
  });
  const refused = await page.evaluate(async (token) => {
    const headers = { 'x-ebb-csrf': token };
    const link = '/_portal/api/nosql/dbs/app/colls/sessions';
    return (await fetch(link, { method: 'DELETE', headers })).status;
  }, csrf);
  expect(refused).toBe(403);
  const read = await server.cosmos.database('app').container('sessions').read();
  expect(read.statusCode).toBe(200);
});

test('no key is in the page for who has none', async ({ page, server }) => {
  await page.goto('/');
  await expect(page.getByLabel('Account key', { exact: true })).toBeVisible();
  expect(await page.content()).not.toContain(PRIMARY);
  const status = async (path: string) => (await page.request.get(server.url + path)).status();
  expect(await status('/_portal/api/nosql/dbs')).toBe(401);
  expect(await status('/_ebb/features')).toBe(401);
  expect(await status('/livez')).toBe(200);
});
