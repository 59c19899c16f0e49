// Acceptance test of TTL: find the container, open its settings, choose Off, On (no default), On,
// save, watch items expire on the manual clock, turn TTL off, and nothing more expires. The same
// for a MongoDB collection. Official clients verify what the page shows.
import type { Page } from '@playwright/test';
import { expect, test } from '../lib/fixtures';
import { chooseTtl, openFromTree, save } from '../lib/pane';
import type { Server } from '../lib/server';

interface Door {
  name: 'nosql' | 'mongo';
  noun: 'container' | 'collection';
  prepare(server: Server): Promise<void>;
  /** Returns the ids that the official client finds. */
  alive(server: Server): Promise<string[]>;
  /** Returns its default TTL: undefined (off), -1 or n. */
  setting(server: Server): Promise<number | undefined>;
}

const ITEMS: { id: string; ttl?: number }[] = [
  { id: 'plain' },
  { id: 'short', ttl: 20 },
  { id: 'pinned', ttl: -1 },
];

const nosql: Door = {
  name: 'nosql',
  noun: 'container',
  prepare: async (server) => {
    const { database } = await server.cosmos.databases.create({ id: 'app' });
    const { container } = await database.containers.create({
      id: 'sessions',
      partitionKey: { paths: ['/user'] },
    });
    for (const item of ITEMS) await container.items.create({ ...item, user: 'ada' });
  },
  alive: async (server) => {
    const container = server.cosmos.database('app').container('sessions');
    const { resources } = await container.items.query('SELECT VALUE c.id FROM c').fetchAll();
    return (resources as string[]).sort();
  },
  setting: async (server) => {
    const read = await server.cosmos.database('app').container('sessions').read();
    return read.resource?.defaultTtl;
  },
};

const mongo: Door = {
  name: 'mongo',
  noun: 'collection',
  prepare: async (server) => {
    const collection = (await server.mongo()).db('app').collection<{ _id: string }>('sessions');
    await collection.insertMany(
      ITEMS.map(({ id, ...rest }) => ({ _id: id, user: 'ada', ...rest })),
    );
  },
  alive: async (server) => {
    const collection = (await server.mongo()).db('app').collection('sessions');
    const found = await collection.find().project({ _id: 1 }).toArray();
    return found.map((document) => String(document._id)).sort();
  },
  setting: async (server) => {
    const collection = (await server.mongo()).db('app').collection('sessions');
    const index = (await collection.indexes()).find((found) => found.key._ts !== undefined);
    return index?.expireAfterSeconds as number | undefined;
  },
};

async function gridShows(page: Page, ids: string[]) {
  const grid = page.getByRole('grid');
  for (const { id } of ITEMS) {
    const row = grid.getByRole('row').filter({ hasText: id });
    await expect(row).toHaveCount(ids.includes(id) ? 1 : 0);
  }
}

for (const door of [nosql, mongo]) {
  test(`a ${door.noun}: off, on without a default, on, items die, off again`, async ({
    page,
    server,
  }) => {
    await door.prepare(server);
    await page.goto('/');
    await openFromTree(page, door.name, 'app', 'sessions');
    await gridShows(page, ['pinned', 'plain', 'short']);

    await page.getByRole('tab', { name: /^(Scale & settings|Settings)/ }).click();
    await expect(page).toHaveURL(new RegExp(`/${door.name}/app/sessions/settings`));
    await expect(page.getByRole('radio', { name: 'Off', exact: true })).toBeChecked();

    await chooseTtl(page, 'On (no default)');
    await save(page, `Successfully updated ${door.noun} sessions`);
    expect(await door.setting(server)).toBe(-1);

    await chooseTtl(page, 'On', '30');
    await save(page, `Successfully updated ${door.noun} sessions`);
    expect(await door.setting(server)).toBe(30);

    await page.getByRole('tab', { name: /^Items/ }).click();
    await gridShows(page, ['pinned', 'plain', 'short']);
    await server.advance(20);
    await gridShows(page, ['pinned', 'plain']);
    expect(await door.alive(server)).toEqual(['pinned', 'plain']);
    await server.advance(9);
    await gridShows(page, ['pinned', 'plain']);

    await page.getByRole('tab', { name: /^(Scale & settings|Settings)/ }).click();
    await chooseTtl(page, 'Off');
    await save(page, `Successfully updated ${door.noun} sessions`);
    expect(await door.setting(server)).toBeUndefined();
    await server.advance(90 * 86_400);
    await page.getByRole('tab', { name: /^Items/ }).click();
    await gridShows(page, ['pinned', 'plain']);
    expect(await door.alive(server)).toEqual(['pinned', 'plain']);
  });
}
