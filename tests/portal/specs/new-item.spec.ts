// A new item: typing goes into its editor immediately, and no item takes the id of another.
import type { Locator, Page } from '@playwright/test';
import { DOORS, mongo } from '../lib/door';
import { expect, test } from '../lib/fixtures';
import { editor, rows, saveItem } from '../lib/items';

/** Returns the selection in the focused editor, which is in a shadow root. */
function typedOver(page: Page): Promise<string> {
  return page.evaluate(() => {
    const root = document.activeElement?.shadowRoot as
      | (ShadowRoot & { getSelection?: () => Selection })
      | null;
    return root?.getSelection?.().toString() ?? '';
  });
}

async function openNew(page: Page, Noun: string, how: 'mouse' | 'keyboard'): Promise<Locator> {
  const button = page.getByRole('button', { name: `New ${Noun}` });
  if (how === 'mouse') await button.click();
  else {
    await button.focus();
    await page.keyboard.press('Enter');
  }
  const pane = page.getByRole('region', { name: `New ${Noun}` });
  await expect(editor(pane)).toBeFocused();
  return pane;
}

test('what is typed becomes the key of a new item, and two get two ids', async ({
  page,
  server,
}) => {
  const { database } = await server.cosmos.databases.create({ id: 'app' });
  const definition = { id: 'log', partitionKey: { paths: ['/user'] } };
  const { container } = await database.containers.create(definition);
  await page.goto('/nosql/app/log/items');
  for (const [at, how, user] of [
    [1, 'mouse', 'ada'],
    [2, 'keyboard', 'bob'],
  ] as const) {
    const pane = await openNew(page, 'Item', how);
    await page.keyboard.type(user);
    await saveItem(page, pane, 'created item');
    await expect(rows(page)).toHaveCount(at);
  }
  const { resources } = await container.items
    .query('SELECT c.id, c.user FROM c ORDER BY c.user')
    .fetchAll();
  const made = resources as { id: string; user: string }[];
  expect(made.map(({ user }) => user)).toEqual(['ada', 'bob']);
  for (const { id } of made) expect(id).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  expect(new Set(made.map(({ id }) => id)).size).toBe(2);
});

test('where the id is the key, it is what is typed over', async ({ page, server }) => {
  const { database } = await server.cosmos.databases.create({ id: 'app' });
  const { container } = await database.containers.create({
    id: 'log',
    partitionKey: { paths: ['/id'] },
  });
  await page.goto('/nosql/app/log/items');
  const pane = await openNew(page, 'Item', 'mouse');
  expect(await typedOver(page)).toMatch(/^[0-9a-f-]{36}$/);
  await page.keyboard.type('mine');
  await saveItem(page, pane, 'created item mine');
  expect((await container.item('mine', 'mine').read()).statusCode).toBe(200);
});

test('a new document is typed at once, and two get two ids', async ({ page, server }) => {
  await mongo.create(server, null);
  await page.goto('/mongo/app/log/items');
  for (const [at, name] of [
    [1, 'ada'],
    [2, 'bob'],
  ] as const) {
    const pane = await openNew(page, 'Document', 'mouse');
    await page.keyboard.type(`"user": "${name}"`);
    await saveItem(page, pane, 'created document');
    await expect(rows(page)).toHaveCount(at);
  }
  expect(await mongo.ids(server)).toHaveLength(2);
});

for (const door of DOORS) {
  test(`a new ${door.noun} that was begun is gone on with`, async ({ page, server }) => {
    await door.create(server, null);
    await page.goto(`/${door.name}/app/log/items`);
    const first = await openNew(page, door.Noun, 'mouse');
    await page.keyboard.press('Control+A');
    await page.keyboard.insertText('{ "half": ');
    await first.getByRole('button', { name: 'Close' }).click();
    const pane = await openNew(page, door.Noun, 'mouse');
    await page.keyboard.type('1 }');
    await expect(editor(pane)).toHaveText('{ "half": 1 }');
  });
}

test('the focus stays where it went while the editor is on its way', async ({ page, server }) => {
  await mongo.create(server, null);
  let release = () => {};
  const held = new Promise<void>((done) => (release = done));
  await page.route(/\/assets\/editor-/, async (route) => {
    await held;
    await route.fallback();
  });
  await page.goto('/mongo/app/log/items');
  await page.getByRole('button', { name: 'New document' }).click();
  await expect(page.getByRole('region', { name: 'New document' })).toBeVisible();
  const filter = page.getByRole('search').getByRole('textbox');
  await filter.focus();
  await page.keyboard.type('{ a: ');
  release();
  await expect(editor(page)).toBeVisible();
  await page.keyboard.type('1 }');
  await expect(filter).toHaveText('{ a: 1 }');
});
