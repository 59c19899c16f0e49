// WCAG 2.2 AA as far as axe checks it: all pages and dialogs, light and dark, 100 and 200 %.
import type { Page } from '@playwright/test';
import { expect, test } from '../lib/fixtures';
import { innocent } from '../lib/innocent';
import { editor, open } from '../lib/items';
import { KEYED, PRIMARY, signIn } from '../lib/login';
import { chooseTtl } from '../lib/pane';
import type { Server } from '../lib/server';

async function fill(server: Server) {
  const { database } = await server.cosmos.databases.create({ id: 'app' });
  const definition = { id: 'log', partitionKey: { paths: ['/id'] }, defaultTtl: 600 };
  const { container } = await database.containers.create(definition);
  const collection = (await server.mongo())
    .db('app')
    .collection<{ _id: string; ttl?: number }>('log');
  await collection.createIndex({ _ts: 1 }, { expireAfterSeconds: 600 });
  await collection.createIndex({ at: 1 }, { expireAfterSeconds: 60 });
  for (const [id, ttl] of [
    ['short', 30],
    ['pinned', -1],
    ['plain', undefined],
  ] as const) {
    await container.items.create({ id, ttl, user: 'ada' });
    await collection.insertOne(ttl === undefined ? { _id: id } : { _id: id, ttl });
  }
}

const VIEWS: Record<string, (page: Page) => Promise<void>> = {
  items: async (page) => open(page, 'plain'),
  schema: async (page) =>
    expect(page.getByRole('region', { name: 'Table of fields' })).toBeVisible(),
  settings: async (page) => {
    await chooseTtl(page, 'On', '5');
    await expect(page.locator('[data-test="ttl-impact"]')).toContainText('of the 3 ');
  },
  query: async (page) => {
    await page.getByRole('button', { name: 'Execute query' }).click();
    await expect(page.locator('.query-summary')).toContainText('3');
  },
  metrics: async (page) => expect(page.getByRole('heading').nth(1)).toBeVisible(),
};

/** Checks the open dialog, and closes it. */
async function look(page: Page, name: string) {
  await expect(page.getByRole('dialog').last()).toBeVisible();
  await innocent(page, name);
  await page.keyboard.press('Escape');
  await expect(page.getByRole('dialog')).toHaveCount(0);
}

/** Checks the dialogs of import and export. */
async function transfers(page: Page, door: string) {
  const main = page.getByRole('main');
  await page.goto(`/${door}/app/log/items`);
  const dialog = page.getByRole('dialog');
  await main.getByRole('button', { name: 'Import', exact: true }).click();
  await look(page, `${door}: import`);
  await main.getByRole('button', { name: 'Import', exact: true }).click();
  await dialog.getByRole('textbox').fill('id,n\na,1\nb,x\n');
  await dialog.getByRole('button', { name: /^Continue/ }).click();
  await look(page, `${door}: preview of an import`);
  await main.getByRole('button', { name: 'Export', exact: true }).click();
  await dialog.getByRole('radio', { name: /^CSV/ }).check();
  await expect(dialog.getByRole('textbox')).toHaveValue(/ttl/);
  await look(page, `${door}: export`);
}

/** Opens, checks and closes every dialog. */
async function dialogs(page: Page, server: Server, door: string) {
  const main = page.getByRole('main');
  await page.goto(`/${door}/app`);
  await main.getByRole('button', { name: /^New (container|collection)/ }).click();
  await page.getByRole('dialog').getByRole('radio', { name: 'On', exact: true }).check();
  await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click();
  await look(page, `${door}: new container`);
  await page.goto(`/${door}/app/log/settings`);
  await main.getByRole('button', { name: /^Delete (container|collection)/ }).click();
  await look(page, `${door}: delete container`);
  await chooseTtl(page, 'On', '5');
  await server.advance(6);
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await look(page, `${door}: confirm`);
  if (door === 'nosql') {
    await server.cosmos
      .database('app')
      .container('log')
      .replace({
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
  await look(page, `${door}: conflict`);
}

for (const door of ['nosql', 'mongo']) {
  // One test per view: an analysis takes seconds on a busy machine.
  for (const [view, prepare] of Object.entries(VIEWS)) {
    test(`the view of ${view}, ${door}`, async ({ page, server }) => {
      await fill(server);
      await page.goto(`/${door}/app/log/${view}`);
      await prepare(page);
      await innocent(page, `${door} ${view}`);
    });
  }

  test(`columns, a selection and what is asked of it, ${door}`, async ({ page, server }) => {
    await fill(server);
    await page.goto(`/${door}/app/log/items?sort=-user`);
    await page.getByRole('row').nth(1).getByRole('checkbox').click();
    await page.getByRole('button', { name: /^Columns/ }).click();
    await innocent(page, `${door}: columns`);
    await page.keyboard.press('Escape');
    for (const name of ['Set ttl…', 'Delete…']) {
      await page.getByRole('toolbar').getByRole('button', { name }).click();
      await expect(page.getByRole('dialog')).toBeVisible();
      await innocent(page, `${door}: ${name}`);
      await page.keyboard.press('Escape');
    }
    await page.getByRole('toolbar').getByRole('button', { name: 'Change a field…' }).click();
    const field = page.getByRole('dialog').getByLabel('Field', { exact: true });
    await field.fill('ttl');
    await innocent(page, `${door}: a field that is refused`);
    await field.fill('user');
    await expect(page.getByRole('dialog').getByLabel('Example')).toBeVisible();
    await look(page, `${door}: a change of a field`);
  });

  test(`completion in a filter, ${door}`, async ({ page, server }) => {
    await fill(server);
    await page.goto(`/${door}/app/log/items`);
    const search = page.getByRole('search');
    await expect(search.locator('.cm-content')).toBeVisible();
    await search.getByRole('textbox').focus();
    await page.keyboard.type(door === 'nosql' ? 'WHERE c.' : '{ t');
    await expect(search.getByRole('listbox')).toBeVisible();
    await innocent(page, `${door} completion in a filter`);
    await page.keyboard.press('Enter');
    await expect(search.getByRole('alert')).toBeVisible();
    await innocent(page, `${door} a wrong filter`);
  });

  test(`saved queries, ${door}`, async ({ page, server }) => {
    await fill(server);
    await page.goto(`/${door}/app/log/query`);
    await page.getByRole('button', { name: 'Save query' }).click();
    await innocent(page, `${door} saving a query`);
    await page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('tab', { name: 'Saved' }).click();
    await expect(page.getByRole('button', { name: /^Rename Query 1/ })).toBeVisible();
    await innocent(page, `${door} saved queries`);
  });

  test(`what a query comes to, ${door}`, async ({ page, server }) => {
    await fill(server);
    await page.goto(`/${door}/app/log/query`);
    await page.getByRole('button', { name: 'Execute query' }).click();
    await expect(page.getByRole('region', { name: 'Results as a table' })).toBeVisible();
    await innocent(page, `${door} results as a table`);
    await page.locator('.segments').getByRole('button', { name: 'Tree' }).click();
    await innocent(page, `${door} results as a tree`);
    await page.getByRole('tab', { name: 'Explain' }).click();
    await expect(page.getByRole('list', { name: 'Plan' })).toBeVisible();
    await innocent(page, `${door} plan`);
    await page.getByRole('textbox', { name: /^(Query|Filter)$/ }).focus();
    await page.keyboard.press('Control+A');
    await page.keyboard.type(door === 'nosql' ? 'SELECT * FROM c WHERE c.' : '{ t');
    await expect(page.getByRole('main').getByRole('listbox')).toBeVisible();
    await innocent(page, `${door} completion`);
  });

  test(`dialogs of import and export, ${door}`, async ({ page, server }) => {
    await fill(server);
    await transfers(page, door);
  });

  test(`every dialog, ${door}`, async ({ page, server }) => {
    await fill(server);
    await dialogs(page, server, door);
  });
}

test('the search of an editor', async ({ page, server }) => {
  await fill(server);
  await page.goto('/mongo/app/log/items');
  await open(page, 'plain');
  await editor(page.getByRole('region', { name: /^Document/ })).focus();
  await page.keyboard.press('Control+F');
  await expect(page.getByRole('textbox', { name: 'Find' })).toBeFocused();
  await innocent(page, 'search');
});

test('indexes, and the indexing policy as a form', async ({ page, server }) => {
  await fill(server);
  await page.goto('/mongo/app/log/settings?section=indexes');
  await expect(page.getByRole('rowheader', { name: 'at_1' })).toBeVisible();
  await innocent(page, 'indexes');
  await page.getByRole('button', { name: 'New index' }).click();
  const expires = page.getByRole('dialog').getByRole('checkbox', { name: /^Documents expire/ });
  await expires.check();
  await look(page, 'new index');
  await page.getByRole('button', { name: 'Drop at_1' }).click();
  await look(page, 'drop index');
  await page.goto('/nosql/app/log/settings?section=indexing');
  await page.getByRole('button', { name: 'Add a composite index' }).click();
  await page.getByRole('button', { name: 'Add included path' }).click();
  await innocent(page, 'indexing policy');
});

test('every other page', async ({ page, server }) => {
  await fill(server);
  const pages: [string, string | RegExp][] = [
    ['/', `mongodb://${server.ready.mongo}`],
    ['/features', /Per-document TTL/],
    ['/monitor', /Operations/],
    ['/nosql/app', 'log'],
    ['/no/such', 'Page not found'],
    ['/nosql/none/none/items', /no longer exists|no database/i],
  ];
  for (const [path, shown] of pages) {
    await page.goto(path);
    await expect(page.getByRole('main').getByText(shown).first()).toBeVisible();
    await innocent(page, path);
  }
});

test.describe('signing in', () => {
  test.use({ options: KEYED });

  test('the page and the dialog', async ({ page, context, server }) => {
    await page.goto('/');
    await signIn(page, 'wrong');
    await expect(page.getByRole('alert')).toBeVisible();
    await innocent(page, 'login');
    await signIn(page, PRIMARY);
    await expect(page.getByText(`mongodb://${server.ready.mongo}`).first()).toBeVisible();
    await context.clearCookies();
    await page.getByRole('button', { name: 'Refresh', exact: true }).click();
    await expect(page.getByRole('dialog', { name: 'Sign in again' })).toBeVisible();
    await innocent(page, 'login again');
  });
});
