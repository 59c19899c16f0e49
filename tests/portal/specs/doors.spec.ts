// An API that is off: the portal reports it, and works for the other one.
import { expect, test } from '../lib/fixtures';
import { chooseTtl, newDatabase, save } from '../lib/pane';

test.describe('without MongoDB', () => {
  test.use({ options: { ports: { mongo: 'off' } } });

  test('the NoSQL door works alone', async ({ page, server }) => {
    const { database } = await server.cosmos.databases.create({ id: 'app' });
    const { container } = await database.containers.create({
      id: 'log',
      partitionKey: { paths: ['/id'] },
    });
    await container.items.create({ id: 'one' });
    await page.goto('/');
    await expect(page.getByRole('main').getByText(/off/).first()).toBeVisible();
    await newDatabase(page);
    const dialog = page.getByRole('dialog');
    await expect(dialog.getByRole('radio', { name: /MongoDB/ })).toBeDisabled();
    await expect(dialog.getByRole('radio', { name: 'NoSQL' })).toBeChecked();
    await page.keyboard.press('Escape');
    await page.goto('/nosql/app/log/settings');
    await chooseTtl(page, 'On (no default)');
    await save(page, 'Successfully updated container log');
    expect((await container.read()).resource?.defaultTtl).toBe(-1);
    await page.goto('/nosql/app/log/items');
    await expect(page.getByRole('grid').getByText('one')).toBeVisible();
    for (const view of ['items', 'settings', 'query', 'metrics']) {
      await page.goto(`/mongo/app/log/${view}`);
      await expect(page.getByText('The MongoDB API is off').first()).toBeVisible();
    }
    for (const path of ['/monitor', '/features']) {
      await page.goto(path);
      await expect(page.getByRole('heading').first()).toBeVisible();
    }
  });
});

test.describe('without NoSQL', () => {
  test.use({ options: { ports: { cosmos: 'off' } } });

  test('the MongoDB door works alone', async ({ page, server }) => {
    const collection = (await server.mongo()).db('app').collection<{ _id: string }>('log');
    await collection.insertOne({ _id: 'one' });
    await page.goto('/');
    await expect(page.getByRole('main').getByText(/off/).first()).toBeVisible();
    await newDatabase(page);
    const dialog = page.getByRole('dialog');
    await expect(dialog.getByRole('radio', { name: /NoSQL/ })).toBeDisabled();
    await expect(dialog.getByRole('radio', { name: 'MongoDB' })).toBeChecked();
    await page.keyboard.press('Escape');
    await page.goto('/mongo/app/log/settings');
    await chooseTtl(page, 'On (no default)');
    await save(page, 'Successfully updated collection log');
    const index = (await collection.indexes()).find((found) => found.key._ts !== undefined);
    expect(index?.expireAfterSeconds).toBe(-1);
    await page.goto('/mongo/app/log/items');
    await expect(page.getByRole('grid').getByText('one')).toBeVisible();
    for (const view of ['items', 'settings', 'query', 'metrics']) {
      await page.goto(`/nosql/app/log/${view}`);
      await expect(page.getByText('The NoSQL API is off').first()).toBeVisible();
    }
  });
});
