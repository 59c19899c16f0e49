// Names with every special character that the APIs allow work in all views, in the tree and in the
// dialogs. Names that a browser would resolve to another URL are not requested.
import type { Page } from '@playwright/test';
import { expect, test } from '../lib/fixtures';
import { editor, open } from '../lib/items';
import { chooseTtl, save } from '../lib/pane';
import type { Server } from '../lib/server';

/** Names of NoSQL databases, containers and items. */
const NOSQL = [`it's "a b"`, 'ü 雪 🙂', 'a.b...', '100%a%20b%2Fc', 'a+b&c=d<i>;,@:$!*~|^`{}[]()'];
/** Names of MongoDB databases, which allow fewer characters, and of their collections. */
const MONGO = [
  ["it's", `it's "a b"`],
  ['ü雪🙂', ' ü 雪 🙂 '],
  ['a?b#c', 'a/b?c#d\\e'],
  ['100%a%20b', '100%a%20b%2Fc'],
  ['a+b&c=d(x);,@!~^`{}[]', 'a+b&c=d<i>;,@:!*~|^`{}[]()'],
] as const;

async function works(
  page: Page,
  door: 'nosql' | 'mongo',
  database: string,
  collection: string,
  item: string,
) {
  const link = `/${door}/${encodeURIComponent(database)}/${encodeURIComponent(collection)}`;
  await page.goto(`${link}/items`);
  await expect(page.getByRole('heading', { level: 1 })).toContainText(collection);
  await expect(
    page.getByRole('tree').getByRole('treeitem', { name: collection, exact: true }),
  ).toHaveAttribute('aria-selected', 'true');
  await open(page, item);
  await expect(editor(page)).toContainText(door === 'nosql' ? JSON.stringify(item) : 'kept');
  await page.getByRole('tab', { name: /^Query/ }).click();
  await page.getByRole('button', { name: 'Execute query' }).click();
  await expect(page.locator('.query-summary')).toContainText('1');
  await page.getByRole('tab', { name: /^Metrics/ }).click();
  await expect(page.getByRole('main')).toContainText(/Live/i);
  await page.getByRole('tab', { name: /^(Scale & settings|Settings)/ }).click();
  await chooseTtl(page, 'On (no default)');
  await save(
    page,
    `Successfully updated ${door === 'nosql' ? 'container' : 'collection'} ${collection}`,
  );
  expect(decodeURIComponent(new URL(page.url()).pathname)).toBe(
    `/${door}/${database}/${collection}/settings`,
  );
  await expect(page.getByRole('alert')).toHaveText([]);
}

async function fillNosql(server: Server) {
  for (const name of NOSQL) {
    const { database } = await server.cosmos.databases.create({ id: name });
    const { container } = await database.containers.create({
      id: name,
      partitionKey: { paths: ['/id'] },
    });
    await container.items.create({ id: name });
  }
}

async function fillMongo(server: Server) {
  const client = await server.mongo();
  for (const [name, collection] of MONGO) {
    await client
      .db(name)
      .collection<{ _id: string; kept: number }>(collection)
      .insertOne({ _id: 'one', kept: 1 });
  }
}

// One test per name, each beside all the others.
for (const name of NOSQL) {
  test(`of the NoSQL API: ${name}`, async ({ page, server }) => {
    await fillNosql(server);
    await works(page, 'nosql', name, name, name);
    const read = await server.cosmos.database(name).container(name).read();
    expect(read.resource?.defaultTtl).toBe(-1);
  });
}

for (const [name, collection] of MONGO) {
  test(`of the MongoDB API: ${name}, ${collection}`, async ({ page, server }) => {
    await fillMongo(server);
    await works(page, 'mongo', name, collection, 'one');
    const indexes = await (await server.mongo()).db(name).collection(collection).indexes();
    expect(indexes.find((found) => found.key._ts !== undefined)?.expireAfterSeconds).toBe(-1);
  });
}

test('dots alone lead nowhere else', async ({ page, server }) => {
  const { database } = await server.cosmos.databases.create({ id: 'app' });
  const { container } = await database.containers.create({
    id: 'log',
    partitionKey: { paths: ['/id'] },
  });
  await container.items.create({ id: '..' });
  await database.containers.create({ id: '..', partitionKey: { paths: ['/id'] } });
  await page.goto('/nosql/app/log/items');
  await page.getByRole('grid').getByRole('row').nth(1).click();
  await expect(page.getByText(/A browser cannot request a resource named/)).toBeVisible();
  await page
    .getByRole('tree')
    .getByRole('treeitem', { name: '..', exact: true })
    .click({ button: 'right' });
  await page.getByRole('menuitem', { name: 'Delete container' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('textbox').fill('..');
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await expect(dialog.getByText(/A browser cannot request a resource named/)).toBeVisible();
  const { resources } = await database.containers.readAll().fetchAll();
  expect(resources.map(({ id }) => id).sort()).toEqual(['..', 'log']);
});
