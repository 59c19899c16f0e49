// The switch of per-document TTL: when off, the ttl of a new document has no effect in the MongoDB
// API; documents written before keep theirs; the NoSQL API is not affected.
import { expect, test } from '../lib/fixtures';
import { innocent } from '../lib/innocent';

test('off and on again', async ({ page, server }) => {
  const collection = (await server.mongo())
    .db('app')
    .collection<{ _id: string; ttl?: number }>('log');
  await collection.createIndex({ _ts: 1 }, { expireAfterSeconds: 100 });
  await collection.insertOne({ _id: 'before', ttl: 20 });
  const { database } = await server.cosmos.databases.create({ id: 'app' });
  const definition = { id: 'log', partitionKey: { paths: ['/id'] }, defaultTtl: 100 };
  const { container } = await database.containers.create(definition);

  await page.goto('/features');
  const control = page.getByRole('switch', { name: /Per-document TTL for MongoDB collections/ });
  await expect(control).toBeChecked();
  const dialog = page.getByRole('dialog');
  await control.focus();
  await page.keyboard.press('Space');
  await expect(dialog).toContainText('all writes through the MongoDB API');
  await innocent(page, 'the question of a switch');
  await page.keyboard.press('Escape');
  await expect(dialog).toHaveCount(0);
  await expect(control).toBeFocused();
  await expect(control).toBeChecked();
  await control.click();
  await dialog.getByRole('button', { name: 'Turn off' }).click();
  await expect(control).not.toBeChecked();
  await page.reload();
  await expect(control).not.toBeChecked();

  await collection.insertOne({ _id: 'while off', ttl: 20 });
  await container.items.create({ id: 'item', ttl: 20 });
  await server.advance(20);
  expect(await collection.distinct('_id')).toEqual(['while off']);
  expect((await container.item('item', 'item').read()).statusCode).toBe(404);
  await page.goto('/mongo/app/log/items');
  const row = page.getByRole('grid').getByRole('row').filter({ hasText: 'while off' });
  await expect(row).toContainText(/01:20|per-document TTL was off/);

  await page.goto('/features');
  await control.click();
  await dialog.getByRole('button', { name: 'Turn on' }).click();
  await expect(control).toBeChecked();
  await collection.insertOne({ _id: 'on again', ttl: 20 });
  await server.advance(20);
  expect(await collection.distinct('_id')).toEqual(['while off']);
  await server.advance(60);
  expect(await collection.distinct('_id')).toEqual([]);
});
