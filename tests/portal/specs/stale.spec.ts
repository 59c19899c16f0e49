// A stale tab whose object another client deletes or changes: it reports that, no input is lost,
// and nothing is overwritten without confirmation.
import { expect, test } from '../lib/fixtures';
import { edit, editor, open } from '../lib/items';
import { chooseTtl, noted } from '../lib/pane';
import type { Server } from '../lib/server';

const DOORS = ['nosql', 'mongo'] as const;
type Door = (typeof DOORS)[number];

async function make(door: Door, server: Server) {
  if (door === 'mongo') {
    await (await server.mongo())
      .db('app')
      .collection<{ _id: string }>('log')
      .insertOne({ _id: 'one' });
    return;
  }
  const { database } = await server.cosmos.databases.createIfNotExists({ id: 'app' });
  const { container } = await database.containers.create({
    id: 'log',
    partitionKey: { paths: ['/id'] },
  });
  await container.items.create({ id: 'one' });
}

async function drop(door: Door, server: Server) {
  if (door === 'mongo') await (await server.mongo()).db('app').dropCollection('log');
  else await server.cosmos.database('app').container('log').delete();
}

for (const door of DOORS) {
  test(`deleted while its items are open, ${door}`, async ({ page, server }) => {
    await make(door, server);
    await page.goto(`/${door}/app/log/items`);
    await open(page, 'one');
    await edit(page, '"kept": 1');
    await drop(door, server);
    await page.getByRole('button', { name: 'Refresh', exact: true }).last().click();
    await expect(page.getByText(/no longer exists|There is no/).first()).toBeVisible();
    await page.locator('.items-commands').getByRole('button', { name: 'Save' }).click();
    await expect(page.getByRole('main').getByRole('alert').first()).toBeVisible();
    await expect(editor(page)).toContainText('"kept": 1');
  });

  test(`deleted while its settings are open, ${door}`, async ({ page, server }) => {
    await make(door, server);
    await page.goto(`/${door}/app/log/settings`);
    await chooseTtl(page, 'On (no default)');
    await drop(door, server);
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await expect(page.getByText(/no longer exists/).first()).toBeVisible();
    await expect(page.getByRole('radio', { name: 'On (no default)' })).toBeChecked();
    await page.getByRole('button', { name: 'Reload the tree' }).first().click();
    await expect(
      page.getByRole('tree').getByRole('treeitem', { name: 'log', exact: true }),
    ).toHaveCount(0);
  });

  test(`deleted while a query is open, ${door}`, async ({ page, server }) => {
    await make(door, server);
    await page.goto(`/${door}/app/log/query`);
    const execute = page.getByRole('button', { name: 'Execute query' });
    await execute.click();
    await expect(page.locator('.query-summary')).toContainText('1');
    await drop(door, server);
    await execute.click();
    if (door === 'nosql') {
      await expect(page.getByRole('main')).toContainText(/may have been deleted/);
    } else {
      // In MongoDB a missing collection is an empty one.
      await expect(page.locator('.query-summary')).toContainText('0');
    }
    await make(door, server);
    await execute.click();
    await expect(page.locator('.query-summary')).toContainText('1');
  });

  test(`an item changed meanwhile, ${door}`, async ({ page, server }) => {
    await make(door, server);
    const change = async (by: string) => {
      if (door === 'nosql') {
        await server.cosmos.database('app').container('log').items.upsert({ id: 'one', by });
      } else {
        const collection = (await server.mongo()).db('app').collection<{ _id: string }>('log');
        await collection.updateOne({ _id: 'one' }, { $set: { by } });
      }
    };
    const stored = async (): Promise<Record<string, unknown>> => {
      if (door === 'nosql') {
        const read = await server.cosmos.database('app').container('log').item('one', 'one').read();
        return read.resource as Record<string, unknown>;
      }
      const collection = (await server.mongo()).db('app').collection<{ _id: string }>('log');
      return (await collection.findOne({ _id: 'one' })) ?? {};
    };
    await page.goto(`/${door}/app/log/items`);
    await open(page, 'one');
    await edit(page, '"mine": 1');
    await change('somebody');
    await page.locator('.items-commands').getByRole('button', { name: 'Save' }).click();
    const conflict = page.getByRole('region', { name: 'Conflict' });
    await expect(conflict).toContainText('changed by someone else');
    expect(await stored()).toMatchObject({ by: 'somebody' });
    expect(await stored()).not.toHaveProperty('mine');
    await conflict.getByRole('button', { name: 'Overwrite with mine' }).click();
    await noted(page, /Successfully updated/);
    expect(await stored()).toMatchObject({ mine: 1 });
  });

  test(`settings changed meanwhile, ${door}`, async ({ page, server }) => {
    await make(door, server);
    await page.goto(`/${door}/app/log/settings`);
    await chooseTtl(page, 'On', '5000');
    if (door === 'nosql') {
      const container = server.cosmos.database('app').container('log');
      const { resource } = await container.read();
      await container.replace({ ...resource, id: 'log', defaultTtl: 9000 } as never);
    } else {
      const collection = (await server.mongo()).db('app').collection('log');
      await collection.createIndex({ _ts: 1 }, { expireAfterSeconds: 9000 });
    }
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    const dialog = page.getByRole('dialog');
    await expect(dialog).toContainText('was changed after you opened it');
    await expect(dialog).toContainText(/9,?000/);
    await dialog.getByRole('button', { name: 'Use theirs' }).click();
    await expect(page.locator('#timeToLiveSeconds')).toHaveValue('9000');
  });
}

for (const view of ['items', 'query', 'settings', 'metrics']) {
  test(`a container that was never there is said once: ${view}`, async ({ page, server }) => {
    await make('nosql', server);
    await page.goto(`/nosql/app/never/${view}`);
    const main = page.getByRole('main');
    await expect(main.getByText('There is no container never.')).toBeVisible();
    await expect(main.getByRole('button', { name: /Delete/ })).toHaveCount(0);
    await expect(main.getByRole('tab')).toHaveCount(0);
    await expect(main.getByText(/no longer exists|Not Found/)).toHaveCount(0);
    await expect(main.getByText(/may have been deleted\./)).toHaveCount(1);
    // A collection created since is shown after the tree was reloaded.
    const { database } = await server.cosmos.databases.createIfNotExists({ id: 'app' });
    await database.containers.create({ id: 'never', partitionKey: { paths: ['/id'] } });
    await main.getByRole('button', { name: 'Reload the tree' }).click();
    await expect(main.getByRole('tab', { name: 'Items' })).toBeVisible();
    await expect(main.getByText(/There is no container/)).toHaveCount(0);
  });
}

test('the clock moves while an item is typed', async ({ page, server }) => {
  const { database } = await server.cosmos.databases.create({ id: 'app' });
  const definition = { id: 'log', partitionKey: { paths: ['/id'] }, defaultTtl: 60 };
  const { container } = await database.containers.create(definition);
  await container.items.create({ id: 'one' });
  await page.goto('/nosql/app/log/items');
  await open(page, 'one');
  await edit(page, '"kept": 1');
  await server.advance(60);
  await expect(page.getByText(/This item expired at/)).toBeVisible();
  await expect(editor(page)).toContainText('"kept": 1');
  await page.getByRole('button', { name: 'Create again' }).click();
  await noted(page, /Successfully created item one/);
  expect((await container.item('one', 'one').read()).resource).toMatchObject({ kept: 1 });
});
