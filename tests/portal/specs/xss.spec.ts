// Scripts and markup in every string that can be stored: shown as text, never executed.
import type { Page } from '@playwright/test';
import { expect, test } from '../lib/fixtures';
import type { Server } from '../lib/server';

const SCRIPTS = [
  '<img src=x onerror="window.hit=1">',
  '<script>window.hit=1</script>',
  '"><svg onload=window.hit=1>',
  "');window.hit=1;//",
  'javascript:window.hit=1',
  '{{constructor.constructor("window.hit=1")()}}',
  '\u202e<b>hit</b>\u0000',
] as const;

/** Names of containers and ids must not contain slashes, `?`, `#` and backslashes. */
const named = (text: string) =>
  text
    .replace(/[/?#\\]/g, '_')
    .replaceAll('\0', '_')
    .slice(0, 200);

async function innocent(page: Page) {
  expect(await page.evaluate(() => (window as { hit?: number }).hit)).toBeUndefined();
  expect(await page.locator('img[src="x"], svg[onload], b:text-is("hit")').count()).toBe(0);
}

async function fill(server: Server): Promise<void> {
  for (const text of SCRIPTS.slice(0, 3)) {
    const { database } = await server.cosmos.databases.create({ id: named(text) });
    const definition = { id: named(text), partitionKey: { paths: ['/key'] }, defaultTtl: 600 };
    const { container } = await database.containers.create(definition);
    for (const inner of SCRIPTS) {
      // Names of properties must not contain U+0000.
      const property = inner.replace('\u0000', '');
      await container.items.create({ id: named(inner), key: inner, [property]: inner, ttl: 60 });
    }
  }
  // MongoDB database names allow fewer characters than collection names.
  const database = (await server.mongo()).db('app');
  for (const text of SCRIPTS) {
    const collection = database.collection<Record<string, unknown>>(
      named(text).replace(/\$/g, '_'),
    );
    await collection.insertMany(
      SCRIPTS.map((inner) => ({ _id: inner, [named(inner).replace(/\./g, '_')]: inner })) as never,
    );
    await collection.createIndex({ at: 1 }, { name: named(text), expireAfterSeconds: 5 });
  }
}

test('stored scripts stay text on every page', async ({ page, server }) => {
  await fill(server);
  page.on('dialog', (dialog) => {
    throw new Error(`a dialog opened: ${dialog.message()}`);
  });
  await page.goto('/');
  for (const item of await page.getByRole('treeitem').all()) await item.click();
  await innocent(page);
  const places: [string, string, string][] = [
    ...SCRIPTS.slice(0, 3).map((text): [string, string, string] => [
      'nosql',
      named(text),
      named(text),
    ]),
    ...SCRIPTS.map((text): [string, string, string] => [
      'mongo',
      'app',
      named(text).replace(/\$/g, '_'),
    ]),
  ];
  for (const [door, database, collection] of places) {
    const link = `/${door}/${encodeURIComponent(database)}/${encodeURIComponent(collection)}`;
    const isLast = SCRIPTS.slice(3).some((text) => collection === named(text).replace(/\$/g, '_'));
    for (const view of isLast ? ['items'] : ['items', 'settings', 'query', 'metrics']) {
      await page.goto(`${link}/${view}`);
      await expect(page.getByRole('tab', { selected: true }).first()).toBeVisible();
      if (view === 'items') {
        const first = page.getByRole('grid').getByRole('row').nth(1);
        await first.click();
        await expect(page.locator('.editor').last()).toBeVisible();
      }
      await innocent(page);
    }
  }
});

test('what the server says in an error is text', async ({ page, server }) => {
  await server.mongo();
  for (const text of SCRIPTS.slice(0, 3)) {
    await page.goto(`/nosql/${encodeURIComponent(text)}/${encodeURIComponent(text)}/items`);
    await expect(page.getByText('There is no database')).toBeVisible();
    await innocent(page);
  }
});
