// Uniform access to both APIs through their official clients: fill, change and query.
import type { Container } from '@azure/cosmos';
import type { Collection } from 'mongodb';
import type { Server } from './server';

export type Fields = Record<string, unknown>;
export type Stored = Fields & { _id: string };

export interface Door {
  name: 'nosql' | 'mongo';
  noun: 'item' | 'document';
  Noun: 'Item' | 'Document';
  /** Creates app › log; default null: TTL off. */
  create(server: Server, defaultTtl: number | null): Promise<void>;
  setDefault(server: Server, defaultTtl: number | null): Promise<void>;
  /** Inserts or replaces an item. */
  put(server: Server, id: string, fields: Fields): Promise<void>;
  remove(server: Server, id: string): Promise<void>;
  /** Returns its fields without id and system fields; null if it does not exist. */
  get(server: Server, id: string): Promise<Fields | null>;
  /** Returns all ids, sorted. */
  ids(server: Server): Promise<string[]>;
  /** Returns the text of an item with an id and other fields for the editor. */
  text(id: string, fields: string): string;
  /** Returns the item's label in the grid. */
  label(id: string): string;
}

/** Returns the container created by `create` of the NoSQL API; its partition key is the id. */
export function container(server: Server): Container {
  return server.cosmos.database('app').container('log');
}

/** Returns the collection created by `create` of the MongoDB API. */
export async function collection(server: Server): Promise<Collection<Stored>> {
  return (await server.mongo()).db('app').collection<Stored>('log');
}

export const nosql: Door = {
  name: 'nosql',
  noun: 'item',
  Noun: 'Item',
  create: async (server, defaultTtl) => {
    const { database } = await server.cosmos.databases.create({ id: 'app' });
    const ttl = defaultTtl === null ? {} : { defaultTtl };
    await database.containers.create({ id: 'log', partitionKey: { paths: ['/id'] }, ...ttl });
  },
  setDefault: async (server, defaultTtl) => {
    const { resource } = await container(server).read();
    if (resource === undefined) throw new Error('there is no container');
    const { defaultTtl: _, ...rest } = resource;
    await container(server).replace(defaultTtl === null ? rest : { ...rest, defaultTtl });
  },
  put: async (server, id, fields) => void (await container(server).items.upsert({ id, ...fields })),
  remove: async (server, id) => void (await container(server).item(id, id).delete()),
  get: async (server, id) => {
    const { resource } = await container(server).item(id, id).read<Fields>();
    if (resource === undefined) return null;
    const own = Object.entries(resource).filter(([name]) => name !== 'id' && !name.startsWith('_'));
    return Object.fromEntries(own);
  },
  ids: async (server) => {
    const { resources } = await container(server)
      .items.query('SELECT VALUE c.id FROM c')
      .fetchAll();
    return (resources as string[]).sort();
  },
  text: (id, fields) => `{ "id": ${JSON.stringify(id)}, ${fields} }`,
  label: (id) => id,
};

export const mongo: Door = {
  name: 'mongo',
  noun: 'document',
  Noun: 'Document',
  create: async (server, defaultTtl) => {
    await (await server.mongo()).db('app').createCollection('log');
    await mongo.setDefault(server, defaultTtl);
  },
  setDefault: async (server, defaultTtl) => {
    const log = await collection(server);
    const held = (await log.indexes()).some(({ key }) => key._ts !== undefined);
    if (held) await log.dropIndex('_ts_1');
    if (defaultTtl !== null) await log.createIndex({ _ts: 1 }, { expireAfterSeconds: defaultTtl });
  },
  put: async (server, id, fields) => {
    await (await collection(server)).replaceOne({ _id: id }, fields as Stored, { upsert: true });
  },
  remove: async (server, id) => void (await (await collection(server)).deleteOne({ _id: id })),
  get: async (server, id) => {
    const found = await (await collection(server)).findOne({ _id: id });
    if (found === null) return null;
    const { _id, ...own } = found;
    return own;
  },
  ids: async (server) => (await (await collection(server)).distinct('_id')).sort(),
  text: (id, fields) => `{ "_id": ${JSON.stringify(id)}, ${fields} }`,
  label: (id) => JSON.stringify(id),
};

export const DOORS: readonly Door[] = [nosql, mongo];

/** Inserts items n000, n001, …: `n` counts from 0; every tenth has user ada, the others bob. */
export async function fillWith(server: Server, door: Door, n: number): Promise<void> {
  const made = Array.from({ length: n }, (_, at) => ({
    n: at,
    user: at % 10 === 0 ? 'ada' : 'bob',
  }));
  if (door.name === 'mongo') {
    await (await collection(server)).insertMany(
      made.map((one) => ({ _id: numbered(one.n), ...one })),
    );
    return;
  }
  const { items } = container(server);
  for (let at = 0; at < n; at += 50) {
    await Promise.all(
      made.slice(at, at + 50).map((one) => items.create({ id: numbered(one.n), ...one })),
    );
  }
}

export const numbered = (at: number) => `n${String(at).padStart(3, '0')}`;
