// The frame: only its parts scroll, and it detects collections that others create.
import { expect, test } from '../lib/fixtures';

test.describe('with tables that have a caption for screen readers', () => {
  test.use({ options: { flags: ['--slow-ms', '0'] } });

  test('no page scrolls the window', async ({ page, server }) => {
    const logs = (await server.mongo()).db('app').collection('log');
    await logs.insertMany(Array.from({ length: 50 }, (_, n) => ({ n, text: 'x'.repeat(50) })));
    // Many rows with texts for screen readers, some below the window.
    for (let n = 0; n < 60; n += 1) await logs.findOne({ n });
    for (const path of ['/', '/monitor', '/features', '/mongo/app', '/mongo/app/log/metrics']) {
      await page.goto(path);
      await expect(page.getByRole('main').getByRole('heading').first()).toBeVisible();
      if (path === '/monitor')
        await expect(page.getByText('Slow operations').first()).toBeVisible();
      const below = await page.evaluate(() => {
        const { scrollHeight, clientHeight } = document.documentElement;
        return scrollHeight - clientHeight;
      });
      expect(below, path).toBe(0);
    }
  });
});

test('what others make and drop is seen without a press', async ({ page, server }) => {
  await page.goto('/');
  const tree = page.getByRole('navigation', { name: 'Databases' });
  await expect(tree.getByText('There are no databases yet.')).toBeVisible();
  const mongo = (await server.mongo()).db('theirs');
  await mongo.collection('one').insertOne({});
  const item = (name: RegExp) => tree.getByRole('treeitem', { name });
  await item(/^theirs/).click();
  await expect(item(/^one/)).toBeVisible();
  await mongo.collection('two').insertOne({});
  await expect(item(/^two/)).toBeVisible();
  await mongo.dropDatabase();
  await expect(tree.getByText('There are no databases yet.')).toBeVisible();
});
