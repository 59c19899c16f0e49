// The preview of a save equals its effect.
import type { Page } from '@playwright/test';
import { expect, test } from '../lib/fixtures';
import { chooseTtl, impact, noted } from '../lib/pane';
import type { Server } from '../lib/server';

const COUNT = 40;

/** Inserts a document every 10 seconds, for ages 0, 10, … 390 s; every eighth never expires. */
async function age(server: Server, write: (id: string, ttl: number | undefined) => Promise<void>) {
  for (let at = 0; at < COUNT; at += 1) {
    await write(`item-${at}`, at % 8 === 0 ? -1 : undefined);
    if (at + 1 < COUNT) await server.advance(10);
  }
}

/** Returns how many documents are expired with a default of n seconds. */
function deadAt(seconds: number): number {
  const ages = Array.from({ length: COUNT }, (_, at) => ({ at, age: (COUNT - 1 - at) * 10 }));
  return ages.filter(({ at, age }) => at % 8 !== 0 && age >= seconds).length;
}

async function confirmWith(page: Page, name: string) {
  const dialog = page.getByRole('dialog');
  await expect(dialog).toBeVisible();
  const confirm = dialog.getByRole('button', { name: /^Save/ });
  await expect(confirm).toBeDisabled();
  await dialog.getByRole('textbox').fill(name);
  await confirm.click();
}

async function check(page: Page, door: string, count: () => Promise<number>) {
  await page.goto(`/${door}/app/log/settings`);
  for (const seconds of [1000, 391, 390, 200, 15]) {
    await chooseTtl(page, 'On', String(seconds));
    const dying = deadAt(seconds);
    const said = dying > 0 ? `${dying} of ${COUNT} ` : `None of the ${COUNT} `;
    await expect(impact(page)).toContainText(said);
    // The table includes the number in the sentence.
    const atOnce = impact(page)
      .getByRole('row', { name: /^Immediately/ })
      .getByRole('cell')
      .last();
    await expect(atOnce).toHaveText(new RegExp(`^${dying}\\b`));
  }
  await chooseTtl(page, 'On', '200');
  await expect(impact(page)).toContainText(`${deadAt(200)} of ${COUNT} `);
  await expect(impact(page)).toContainText(/written now would expire \d{4}-\d\d-\d\d .* UTC\./);
  expect(await count()).toBe(COUNT);
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await confirmWith(page, 'log');
  await noted(page, /Successfully updated \w+ log/);
  expect(await count()).toBe(COUNT - deadAt(200));
}

test('a container', async ({ page, server }) => {
  const { database } = await server.cosmos.databases.create({ id: 'app' });
  const definition = { id: 'log', partitionKey: { paths: ['/id'] }, defaultTtl: -1 };
  const { container } = await database.containers.create(definition);
  await age(server, async (id, ttl) => void (await container.items.create({ id, ttl })));
  await check(page, 'nosql', async () => {
    const asked = container.items.query('SELECT VALUE COUNT(1) FROM c');
    return (await asked.fetchAll()).resources[0] as number;
  });
});

test('a MongoDB collection', async ({ page, server }) => {
  const collection = (await server.mongo())
    .db('app')
    .collection<{ _id: string; ttl?: number }>('log');
  await age(server, async (id, ttl) => {
    await collection.insertOne(ttl === undefined ? { _id: id } : { _id: id, ttl });
  });
  await check(page, 'mongo', () => collection.countDocuments());
});

test('what changed between preview and Save is asked again', async ({ page, server }) => {
  const collection = (await server.mongo()).db('app').collection('log');
  await collection.insertMany([{ n: 1 }, { n: 2 }]);
  await page.goto('/mongo/app/log/settings');
  await chooseTtl(page, 'On', '100');
  await expect(impact(page)).toContainText('None of the 2 ');
  // The page does not notice the step.
  const known: unknown = await (await page.request.get(`${server.url}/status`)).json();
  await page.route('**/status', (route) => route.fulfill({ json: known }));
  await server.advance(100);
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await expect(page.getByRole('dialog')).toContainText('2 of 2');
  expect(await collection.countDocuments()).toBe(2);
});
