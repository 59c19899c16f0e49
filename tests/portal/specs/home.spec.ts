// The front page: what to connect to, and the sample whose sessions die before the reader's eyes.
import { expect, test } from '../lib/fixtures';

test('connection strings work as they stand', async ({ page, server, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.goto('/');
  await expect(page.getByText(`mongodb://${server.ready.mongo}`).first()).toBeVisible();
  await expect(page.getByText(`AccountEndpoint=http://${server.ready.cosmos}`).first()).toBeVisible();
  for (const platform of ['mongosh', 'Python', 'Node', 'Java', 'Go', 'Rust', 'C#']) {
    await page.getByRole('tab', { name: new RegExp(`^${platform.replace('#', '\\#')}`) }).click();
    await expect(page.getByRole('tabpanel').last()).toContainText(/127\.0\.0\.1|localhost/);
  }
});

test('the sample dies within a minute', async ({ page, server }) => {
  await page.goto('/');
  await page.getByRole('button', { name: 'Load the sample' }).click();
  const collection = (await server.mongo()).db('quickstart').collection('sessions');
  await expect.poll(() => collection.countDocuments()).toBeGreaterThan(10);
  const born = await collection.countDocuments();
  await server.advance(30);
  const half = await collection.countDocuments();
  expect(half).toBeLessThan(born);
  await expect(page.getByText(new RegExp(`\\b${half} of ${born}\\b`)).first()).toBeVisible();
  await server.advance(31);
  const left = await collection.countDocuments();
  expect(left).toBe(await collection.countDocuments({ ttl: -1 }));
  const container = server.cosmos.database('quickstart').container('sessions');
  const { resources } = await container.items.query('SELECT VALUE COUNT(1) FROM c').fetchAll();
  expect(resources).toEqual([left]);
});
