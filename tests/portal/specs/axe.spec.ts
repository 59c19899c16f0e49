// No violation of WCAG 2.1 AA that axe finds, on any page and in any dialog, light and dark, at 100
// and 200 %.
import AxeBuilder from '@axe-core/playwright';
import { type Page } from '@playwright/test';
import { expect, test } from '../lib/fixtures';
import { open } from '../lib/items';
import { chooseTtl } from '../lib/pane';
import { Server } from '../lib/server';

const WCAG = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice'];
/** 200 % of zoom halves what fits. */
const SIZES = [
  { zoom: '100 %', viewport: { width: 1280, height: 800 } },
  { zoom: '200 %', viewport: { width: 640, height: 400 } },
];

async function fill(server: Server) {
  const { database } = await server.cosmos.databases.create({ id: 'app' });
  const definition = { id: 'log', partitionKey: { paths: ['/id'] }, defaultTtl: 600 };
  const { container } = await database.containers.create(definition);
  const collection = (await server.mongo()).db('app').collection<{ _id: string; ttl?: number }>('log');
  await collection.createIndex({ _ts: 1 }, { expireAfterSeconds: 600 });
  await collection.createIndex({ at: 1 }, { expireAfterSeconds: 60 });
  for (const [id, ttl] of [['short', 30], ['pinned', -1], ['plain', undefined]] as const) {
    await container.items.create({ id, ttl, user: 'ada' });
    await collection.insertOne(ttl === undefined ? { _id: id } : { _id: id, ttl });
  }
}

async function innocent(page: Page, where: string) {
  const { violations } = await new AxeBuilder({ page }).withTags(WCAG).analyze();
  const found = violations.map((violation) => ({
    where,
    rule: violation.id,
    nodes: violation.nodes.map((node) => node.target.join(' ')),
  }));
  expect(found).toEqual([]);
}

const VIEWS: Record<string, (page: Page) => Promise<void>> = {
  items: async (page) => open(page, 'plain'),
  settings: async (page) => {
    await chooseTtl(page, 'On', '5');
    await expect(page.locator('[data-test="ttl-impact"]')).toContainText(/ of 3/);
  },
  query: async (page) => {
    await page.getByRole('button', { name: 'Execute Query' }).click();
    await expect(page.locator('.query-summary')).toContainText('3');
  },
  metrics: async (page) => expect(page.getByRole('heading').nth(1)).toBeVisible(),
};

/** Every dialog: opened, looked at, and closed. */
async function dialogs(page: Page, server: Server, door: string) {
  const main = page.getByRole('main');
  const look = async (name: string) => {
    await expect(page.getByRole('dialog').last()).toBeVisible();
    await innocent(page, `${door}: ${name}`);
    await page.keyboard.press('Escape');
    await expect(page.getByRole('dialog')).toHaveCount(0);
  };
  await page.goto(`/${door}/app`);
  await main.getByRole('button', { name: /^New (container|collection)/ }).click();
  await page.getByRole('dialog').getByRole('radio', { name: 'On', exact: true }).check();
  await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click();
  await look('new container');
  await page.goto(`/${door}/app/log/settings`);
  await main.getByRole('button', { name: /^Delete (container|collection)/ }).click();
  await look('delete container');
  await chooseTtl(page, 'On', '5');
  await server.advance(6);
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await look('confirm');
  if (door === 'nosql') {
    await server.cosmos.database('app').container('log').replace({
      id: 'log',
      partitionKey: { paths: ['/id'] },
      defaultTtl: 700,
    });
  } else {
    const change = { keyPattern: { _ts: 1 }, expireAfterSeconds: 700 };
    await (await server.mongo()).db('app').command({ collMod: 'log', index: change });
  }
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByRole('dialog').getByRole('textbox').fill('log');
  await page.getByRole('dialog').getByRole('button', { name: /^Save/ }).click();
  await expect(page.getByRole('dialog')).toContainText('was changed after');
  await look('conflict');
}

for (const { zoom, viewport } of SIZES) {
  for (const colorScheme of ['light', 'dark'] as const) {
    test.describe(`${colorScheme}, ${zoom}`, () => {
      test.use({ viewport, colorScheme });
      test('every page', async ({ page, server }) => {
        test.setTimeout(120_000);
        await fill(server);
        for (const path of ['/', '/features', '/monitor', '/nosql/app', '/no/such']) {
          await page.goto(path);
          await expect(page.getByRole('heading').first()).toBeVisible();
          await page.waitForLoadState('networkidle');
          await innocent(page, path);
        }
        for (const door of ['nosql', 'mongo']) {
          for (const [view, prepare] of Object.entries(VIEWS)) {
            await page.goto(`/${door}/app/log/${view}`);
            await prepare(page);
            await innocent(page, `${door} ${view}`);
          }
        }
      });

      test('every dialog', async ({ page, server }) => {
        test.setTimeout(120_000);
        await fill(server);
        await page.goto('/nosql/app/log/items');
        await page.getByRole('button', { name: 'Tree' }).or(page.getByRole('tree')).first().focus();
        await dialogs(page, server, 'nosql');
        await dialogs(page, server, 'mongo');
      });
    });
  }
}
