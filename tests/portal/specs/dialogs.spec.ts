// Creating and deleting by dialogs: every TTL option, and deletion by the typed name.
import type { Page } from '@playwright/test';
import { expect, test } from '../lib/fixtures';
import { newDatabase } from '../lib/pane';
import type { Server } from '../lib/server';

const CHOICES: [option: string, seconds: string | undefined, value: number | undefined][] = [
  ['Off', undefined, undefined],
  ['On (no default)', undefined, -1],
  ['On', '7', 7],
  ['On', '2147483647', 2_147_483_647],
];

async function fillTtl(page: Page, option: string, seconds: string | undefined) {
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('radio', { name: option, exact: true }).check();
  if (seconds !== undefined) await dialog.getByLabel(/^Time to live in/).fill(seconds);
}

async function create(page: Page) {
  await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click();
}

async function defaultOf(server: Server, collection: string): Promise<number | undefined> {
  const indexes = await (await server.mongo()).db('app').collection(collection).indexes();
  return indexes.find((found) => found.key._ts !== undefined)?.expireAfterSeconds as
    | number
    | undefined;
}

test('containers with every time to live', async ({ page, server }) => {
  await page.goto('/');
  await newDatabase(page);
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('radio', { name: 'NoSQL' }).check();
  await create(page);
  await expect(dialog.getByText('Enter the name of the database.')).toBeVisible();
  await dialog.getByLabel('Database name').fill('app');
  // The corrected field has no error any more.
  await expect(dialog.getByText('Enter the name of the database.')).toHaveCount(0);
  await create(page);
  await expect(page).toHaveURL(/\/nosql\/app$/);
  for (const [at, [option, seconds, value]] of CHOICES.entries()) {
    await page.getByRole('main').getByRole('button', { name: 'New container' }).click();
    await dialog.getByLabel('Container id').fill(`c ${at}`);
    await dialog.getByLabel('Partition key').fill(at === 1 ? '/tenant, /user' : '/user');
    await fillTtl(page, option, seconds);
    if (at === 2) await dialog.getByLabel(/^Unique keys/).fill('/mail');
    await create(page);
    await expect(page).toHaveURL(new RegExp(`/nosql/app/c%20${at}/items`));
    const { resource } = await server.cosmos.database('app').container(`c ${at}`).read();
    expect(resource?.defaultTtl).toBe(value);
    expect(resource?.partitionKey?.paths).toEqual(at === 1 ? ['/tenant', '/user'] : ['/user']);
    expect(resource?.uniqueKeyPolicy?.uniqueKeys ?? []).toEqual(
      at === 2 ? [{ paths: ['/mail'] }] : [],
    );
    await page.goto('/nosql/app');
  }
});

test('collections with every time to live', async ({ page, server }) => {
  await page.goto('/');
  await newDatabase(page);
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('radio', { name: 'MongoDB' }).check();
  await dialog.getByLabel('Database name').fill('app');
  await dialog.getByLabel('First collection').fill('first');
  await create(page);
  await expect(page).toHaveURL(/\/mongo\/app\/first\/items/);
  for (const [at, [option, seconds, value]] of CHOICES.entries()) {
    await page.goto('/mongo/app');
    await page.getByRole('main').getByRole('button', { name: 'New collection' }).click();
    await dialog.getByLabel('Collection name').fill(`c ${at}`);
    await fillTtl(page, option, seconds);
    await create(page);
    await expect(page).toHaveURL(new RegExp(`/mongo/app/c%20${at}/items`));
    expect(await defaultOf(server, `c ${at}`)).toBe(value);
  }
});

/** Opens the dialog for a new container beside an existing one of that name. */
async function besideThere(page: Page, server: Server) {
  const { database } = await server.cosmos.databases.create({ id: 'app' });
  await database.containers.create({ id: 'there', partitionKey: { paths: ['/id'] } });
  await page.goto('/nosql/app');
  await page.getByRole('main').getByRole('button', { name: 'New container' }).click();
  return page.getByRole('dialog');
}

test('what cannot be made says why and keeps what was typed', async ({ page, server }) => {
  const dialog = await besideThere(page, server);
  await dialog.getByLabel('Container id').fill('there');
  await dialog.getByLabel('Partition key').fill('/user');
  for (const [seconds, why] of [
    ['0', '0 would expire everything immediately'],
    ['-1', '-1 means On (no default)'],
    ['1.5', '1.5 is not a whole number'],
    ['2147483648', 'are too many'],
    ['ten', 'is not a number'],
    ['30000000d', 'days are too many'],
  ] as const) {
    await fillTtl(page, 'On', seconds);
    await create(page);
    await expect(dialog.getByText(why)).toBeVisible();
    await expect(dialog.getByLabel(/^Time to live in/)).toBeFocused();
  }
  await fillTtl(page, 'On', '90d');
  await expect(dialog.getByText('7776000 s = 90 days')).toBeVisible();
  await fillTtl(page, 'On', '60');
  await create(page);
  await expect(dialog.getByText(/already exists/i)).toBeVisible();
  await expect(dialog.getByLabel('Container id')).toHaveValue('there');
  await expect(dialog.getByLabel(/^Time to live in/)).toHaveValue('60');
  await dialog.getByLabel('Container id').fill('other');
  await create(page);
  await expect(page).toHaveURL(/\/nosql\/app\/other\/items/);
});

test('each wrong field says what is wrong with it until it is right', async ({ page, server }) => {
  const dialog = await besideThere(page, server);
  const name = dialog.getByLabel('Container id');
  const key = dialog.getByLabel('Partition key');
  await name.fill('a/b');
  await fillTtl(page, 'On', '');
  for (const field of [name, key, dialog.getByLabel(/^Time to live in/)]) {
    await expect(field).not.toHaveAttribute('aria-invalid', 'true');
  }
  await create(page);
  await expect(name).toBeFocused();
  await expect(name).toHaveAccessibleDescription(/A name cannot contain/);
  await expect(key).toHaveAccessibleDescription(/Enter the path/);
  await expect(dialog.getByLabel(/^Time to live in/)).toHaveAccessibleDescription(/Enter a number/);
  await dialog.getByLabel(/^Time to live in/).fill('45');
  await expect(dialog.getByText('45 s = 45 seconds')).toBeVisible();
  await expect(dialog.getByText(/Enter a number/)).toHaveCount(0);
  await expect(name).toHaveAccessibleDescription(/A name cannot contain/);
  await name.fill('there');
  await expect(name).not.toHaveAttribute('aria-invalid', 'true');
  await key.fill('user');
  await expect(key).toHaveAccessibleDescription(/Will be created as \/user/);
  await create(page);
  // Errors found by the server are shown at the field as well.
  await expect(name).toHaveAccessibleDescription(/already exists/i);
  await expect(name).toBeFocused();
  await name.fill('other');
  await create(page);
  await expect(page).toHaveURL(/\/nosql\/app\/other\/items/);
});

async function askDelete(page: Page, line: string | RegExp) {
  await page
    .getByRole('tree')
    .getByRole('treeitem', { name: line, exact: true })
    .click({ button: 'right' });
  await page.getByRole('menuitem', { name: /^Delete/ }).click();
}

async function typeName(page: Page, name: string) {
  const dialog = page.getByRole('dialog');
  const button = dialog.getByRole('button', { name: 'Delete' });
  const field = dialog.getByRole('textbox');
  for (const wrong of ['', name.slice(0, -1), `${name} `, name.toUpperCase()]) {
    await field.fill(wrong);
    await expect(button).toBeDisabled();
    await field.press('Enter');
  }
  await field.fill(name);
  await button.click();
  await expect(dialog).toHaveCount(0);
}

test('a container and a database are deleted by name', async ({ page, server }) => {
  const { database } = await server.cosmos.databases.create({ id: 'app' });
  await database.containers.create({ id: 'one', partitionKey: { paths: ['/id'] } });
  await database.containers.create({ id: 'two', partitionKey: { paths: ['/id'] } });
  const left = async () =>
    (await database.containers.readAll().fetchAll()).resources.map(({ id }) => id);
  await page.goto('/nosql/app/one/items');
  await askDelete(page, 'one');
  await expect(page.getByRole('dialog')).toContainText('one');
  await page.keyboard.press('Escape');
  await expect(page.getByRole('dialog')).toHaveCount(0);
  expect((await left()).sort()).toEqual(['one', 'two']);
  await askDelete(page, 'one');
  await typeName(page, 'one');
  expect(await left()).toEqual(['two']);
  await expect(page).toHaveURL(/\/nosql\/app$/);
  await askDelete(page, 'app NoSQL');
  await typeName(page, 'app');
  await expect(page.getByText('There are no databases yet.')).toBeVisible();
  expect((await server.cosmos.databases.readAll().fetchAll()).resources).toEqual([]);
});

test('a collection and a MongoDB database are deleted by name', async ({ page, server }) => {
  const client = await server.mongo();
  await client.db('app').collection('one').insertOne({ n: 1 });
  await client.db('app').createCollection('two');
  const left = async () =>
    (await client.db('app').listCollections().toArray()).map(({ name }) => name);
  await page.goto('/mongo/app/two/settings');
  await askDelete(page, 'one');
  await typeName(page, 'one');
  expect(await left()).toEqual(['two']);
  await expect(page).toHaveURL(/\/mongo\/app\/two\/settings/);
  await askDelete(page, 'app MongoDB');
  await typeName(page, 'app');
  await expect(page.getByText('There are no databases yet.')).toBeVisible();
  expect(await left()).toEqual([]);
});
