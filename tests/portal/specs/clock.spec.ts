// A manual clock in the far future: instants are correct beyond 32 bits of seconds.
import { DOORS, mongo, nosql } from '../lib/door';
import { expect, test } from '../lib/fixtures';
import { open } from '../lib/items';
import { noted } from '../lib/pane';

for (const [year, now, then] of [
  [2038, '2038-01-19T03:14:00Z', '2038-01-19 03:14:10'],
  [2106, '2106-02-07T06:28:10Z', '2106-02-07 06:28:20'],
] as const) {
  test(`across the end of seconds in ${year}`, async ({ page, server }) => {
    await (await server.mongo()).db('admin').command({ ebbClock: 1, set: new Date(now) });
    const { database } = await server.cosmos.databases.create({ id: 'app' });
    const definition = { id: 'log', partitionKey: { paths: ['/id'] }, defaultTtl: 10 };
    const { container } = await database.containers.create(definition);
    await container.items.create({ id: 'one' });
    await container.items.create({ id: 'pinned', ttl: -1 });
    const collection = (await server.mongo()).db('app').collection<{ _id: string }>('log');
    await collection.createIndex({ _ts: 1 }, { expireAfterSeconds: 10 });
    await collection.insertOne({ _id: 'one' });
    for (const door of ['nosql', 'mongo']) {
      await page.goto(`/${door}/app/log/items`);
      await expect(page.getByRole('banner')).toContainText(String(year));
      const row = page.getByRole('grid').getByRole('row').filter({ hasText: 'one' });
      await expect(row).toContainText(then);
      await page.goto(`/${door}/app/log/metrics`);
      await expect(page.getByRole('heading').first()).toBeVisible();
    }
    await page.goto('/nosql/app/log/items');
    await open(page, 'one');
    await expect(page.getByText(/Expires:/).last()).toContainText(then);
    await server.advance(9);
    await expect(page.getByRole('grid').getByRole('row').filter({ hasText: 'one' })).toHaveCount(1);
    await server.advance(1);
    await expect(page.getByText(/This item expired at/)).toContainText(then);
    await expect(page.getByRole('grid').getByText('pinned')).toBeVisible();
    expect(await collection.countDocuments()).toBe(0);
    expect((await container.item('one', 'one').read()).statusCode).toBe(404);
  });
}

test('the clock is moved from the page', async ({ page, server }) => {
  const collection = (await server.mongo()).db('app').collection<{ _id: string }>('log');
  await collection.createIndex({ _ts: 1 }, { expireAfterSeconds: 60 });
  await collection.insertOne({ _id: 'one' });
  await page.goto('/monitor');
  const before = await page.getByRole('banner').locator('time').innerText();
  await page.getByLabel('Forward by').fill('-5');
  await page.getByRole('button', { name: 'Advance' }).click();
  await expect(page.getByText('The clock only moves forward')).toBeVisible();
  await page.getByLabel('Forward by').fill('1');
  await expect(page.locator('.metrics-preview')).toContainText(/1 document/);
  await page.getByRole('button', { name: 'Advance' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Move the clock' }).click();
  await expect(page.getByRole('banner').locator('time')).not.toHaveText(before);
  await expect.poll(() => collection.countDocuments()).toBe(0);
  const set = page.getByRole('button', { name: 'Set', exact: true });
  const place = await set.boundingBox();
  await page.getByLabel('Set to (UTC)').fill('2020-01-01');
  await set.click();
  await expect(page.getByText('The clock never goes back: it is at')).toBeVisible();
  expect((await set.boundingBox())?.x).toBe(place?.x);
  await page.getByLabel('Set to (UTC)').fill('2106-02-08');
  await set.click();
  await expect(page.getByRole('banner').locator('time')).toHaveText(/2106-02-08 00:00:00 UTC/);
});

test('a move by which documents expire is asked about first', async ({ page, server }) => {
  for (const door of DOORS) await door.create(server, 86_400);
  for (const id of ['one', 'two', 'three']) await mongo.put(server, id, {});
  await nosql.put(server, 'one', {});
  await nosql.put(server, 'pinned', { ttl: -1 });
  await page.goto('/');
  const moves = page.getByRole('region', { name: 'Move the clock' });
  const clock = page.getByRole('banner').locator('time');
  const before = await clock.innerText();
  const far = moves.getByRole('button', { name: '+90 days' });
  await far.focus();
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog', { name: /^Move the clock to .* UTC\?$/ });
  await expect(dialog).toContainText('4 documents expire by then, in 2 collections:');
  await expect(dialog.getByRole('listitem')).toHaveText([
    /app › log MongoDB 3 documents/,
    /app › log NoSQL 1 item/,
  ]);
  await expect(dialog.getByRole('button', { name: 'Cancel' })).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(dialog).toHaveCount(0);
  await expect(far).toBeFocused();
  await expect(clock).toHaveText(before);
  expect(await mongo.ids(server)).toHaveLength(3);

  // This move expires nothing, so it is executed at once.
  await moves.getByRole('button', { name: '+1 h' }).click();
  await expect(clock).not.toHaveText(before);
  await expect(page.getByRole('dialog')).toHaveCount(0);
  await far.click();
  await dialog.getByRole('button', { name: 'Move the clock' }).click();
  await noted(page, 'Clock advanced: 4 documents of both APIs expired.');
  expect(await mongo.ids(server)).toEqual([]);
  expect(await nosql.ids(server)).toEqual(['pinned']);
});
