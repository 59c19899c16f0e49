// A database of 10,000 collections: the tree draws those in sight, and the last is found by keyboard,
// by typing its name, and by the filter.
import { expect, test } from '../lib/fixtures';

const COUNT = 10_000;
const WRITERS = 16;
const MOST_DRAWN = 200;
const nameOf = (at: number) => `c${String(at).padStart(5, '0')}`;

test('10,000 collections', async ({ page, server }) => {
  test.setTimeout(240_000);
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
  await page.keyboard.type(last);
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
