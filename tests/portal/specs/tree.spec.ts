// Rows of the tree and the menu above it. A database with 10,000 collections: only visible rows are
// rendered, and the last one is found by keyboard, typing and filter.
import { collection, DOORS, mongo } from '../lib/door';
import { expect, test } from '../lib/fixtures';
import { typeFast } from '../lib/keyboard';

const COUNT = 10_000;
const WRITERS = 16;
const MOST_DRAWN = 200;
const nameOf = (at: number) => `c${String(at).padStart(5, '0')}`;

test('10,000 collections', async ({ page, server }) => {
  const database = (await server.mongo()).db('many');
  const write = async (first: number) => {
    for (let at = first; at < COUNT; at += WRITERS) await database.createCollection(nameOf(at));
  };
  await Promise.all(Array.from({ length: WRITERS }, (_, at) => write(at)));
  const [first, last] = [nameOf(0), nameOf(COUNT - 1)];

  await page.goto('/');
  const tree = page.getByRole('tree');
  const rows = tree.getByRole('treeitem');
  const row = (name: string) => tree.getByRole('treeitem', { name, exact: true });
  await row('many MongoDB').click();
  await expect(row(first)).toBeVisible();
  expect(await rows.count()).toBeLessThan(MOST_DRAWN);
  await expect(page.getByText('10,000 collections')).toBeVisible();

  await tree.focus();
  await page.keyboard.press('End');
  await expect(row(last)).toBeInViewport();
  expect(await rows.count()).toBeLessThan(MOST_DRAWN);
  await page.keyboard.press('Home');
  await expect(row('many MongoDB')).toBeInViewport();
  await typeFast(page, last);
  await expect(row(last)).toBeInViewport();
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(new RegExp(`/mongo/many/${last}/items`));
  await page.keyboard.press('Home');

  const filter = page.getByRole('searchbox', { name: 'Filter databases and containers' });
  await filter.fill(last.slice(1));
  await expect(rows).toHaveText([/many/, new RegExp(last)]);
  await filter.fill('');
  await expect(row(first)).toBeVisible();
  expect(await rows.count()).toBeLessThan(MOST_DRAWN);
});

test('a line says what lives in its collection, and whether that expires', async ({
  page,
  server,
}) => {
  for (const door of DOORS) await door.create(server, 60);
  await (await server.mongo()).db('app').createCollection('plain');
  for (const id of ['one', 'two']) await mongo.put(server, id, {});
  await page.goto('/mongo/app');
  const line = (name: string) => page.getByRole('treeitem', { level: 2, name, exact: true });
  const said = (name: string) => expect(line(name));
  await said('log').toHaveAttribute('aria-description', '2 documents, Time to live: 1 minute');
  await said('plain').toHaveAttribute('aria-description', '0 documents');
  await expect(line('log').locator('.tree-facts')).toHaveAttribute('data-live', '2');
  await expect(line('log').locator('.tree-ttl')).toBeVisible();
  await expect(line('plain').locator('.tree-ttl')).toHaveCount(0);
  // Own changes appear at once, those of others after a while.
  await (await collection(server)).insertOne({ _id: 'three' });
  await server.advance(1);
  await said('log').toHaveAttribute('aria-description', '3 documents, Time to live: 1 minute');
  await server.advance(60);
  await said('log').toHaveAttribute('aria-description', '0 documents, Time to live: 1 minute');
  // Without a default, documents expire by TTL indexes on dates.
  const plain = (await server.mongo()).db('app').collection('plain');
  await plain.createIndex({ until: 1 }, { expireAfterSeconds: 0 });
  await said('plain').toHaveAttribute('aria-description', '0 documents, expires by date');
  await expect(line('plain').locator('.tree-ttl')).toBeVisible();
});

test('New opens a menu, by keyboard too', async ({ page, server }) => {
  await mongo.create(server, null);
  await page.goto('/mongo/app/log/items');
  const button = page.getByRole('button', { name: 'New', exact: true });
  const items = page.getByRole('menu', { name: 'What to create' }).getByRole('menuitem');
  await button.focus();
  await page.keyboard.press('Enter');
  await expect(items).toHaveText([
    'New database',
    'New container (NoSQL)',
    'New collection (MongoDB)',
  ]);
  await expect(items.first()).toBeFocused();
  await page.keyboard.press('Escape');
  await expect(items).toHaveCount(0);
  await expect(button).toBeFocused();
  // A second press also closes it.
  await button.click();
  await expect(items).toHaveCount(3);
  await button.click();
  await expect(items).toHaveCount(0);
  await button.click();
  await page.keyboard.press('End');
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog', { name: 'New collection' });
  await expect(dialog.getByRole('combobox').first()).toHaveValue('at app');
  await page.keyboard.press('Escape');
  await expect(dialog).toHaveCount(0);
  await expect(button).toBeFocused();
});

test('what was open is open after a reload', async ({ page, server }) => {
  const client = await server.mongo();
  for (const name of ['one', 'two', 'three']) await client.db(name).createCollection(`of ${name}`);
  await page.goto('/');
  const line = (name: string) => page.getByRole('treeitem', { name, exact: true });
  for (const name of ['one', 'two']) await line(`${name} MongoDB`).click();
  await expect(line('of two')).toBeVisible();
  await page.goto('/');
  await expect(line('of one')).toBeVisible();
  await expect(line('of two')).toBeVisible();
  await expect(line('of three')).toHaveCount(0);
  await line('one MongoDB').locator('.tree-twist').click();
  await expect(line('of one')).toHaveCount(0);
  await page.reload();
  await expect(line('of two')).toBeVisible();
  await expect(line('of one')).toHaveCount(0);
});

test('another collection is shown in the same view', async ({ page, server }) => {
  for (const door of DOORS) await door.create(server, 60);
  await (await server.mongo()).db('app').createCollection('other');
  await page.goto('/mongo/app/log/items');
  const line = (name: string) => page.getByRole('treeitem', { name, exact: true });
  for (const view of ['Schema', 'Scale & settings', 'Query', 'Metrics']) {
    await line('log').click();
    await page.getByRole('tab', { name: view, exact: true }).click();
    await line('other').click();
    await expect(page).toHaveURL(/\/mongo\/app\/other\//);
    await expect(page.getByRole('tab', { name: view, exact: true })).toHaveAttribute(
      'aria-selected',
      'true',
    );
  }
  // By keyboard, and of the other API. From a page without a collection it leads to the items.
  await line('app NoSQL').locator('.tree-twist').click();
  await expect(line('log')).toHaveCount(2);
  await page.getByRole('tree').focus();
  const below = line('log').first();
  for (let step = 0; step < 6; step += 1) {
    if (/active/.test((await below.getAttribute('class')) ?? '')) break;
    await page.keyboard.press('ArrowUp');
  }
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/\/nosql\/app\/log\/metrics$/);
  await line('app MongoDB').click();
  await expect(page).toHaveURL(/\/mongo\/app$/);
  await line('other').click();
  await expect(page).toHaveURL(/\/mongo\/app\/other\/items$/);
});
