// Making and deleting databases, containers and collections: the requests, the words in the console,
// and where the page goes afterwards.
import * as mongo from '../../api/mongo';
import * as nosql from '../../api/nosql';
import { say } from '../../state/log';
import type { Door, Place, Target } from '../../state/place';
import { go } from '../../state/router';
import { loadCollections, loadTree, loadTreeWith } from '../../state/tree';
import { noun } from '../dialogs';

function done(text: string): void {
  say({ kind: 'done', text: `Successfully ${text}` });
}

export async function createDatabase(name: string, throughput?: number): Promise<void> {
  await nosql.createDatabase(name, throughput);
  done(`created database ${name}`);
}

async function shown(target: Target): Promise<void> {
  await loadTreeWith(target);
  go({ page: 'collection', view: 'items', ...target });
}

export async function createContainer(
  database: string,
  definition: Record<string, unknown>,
): Promise<void> {
  await nosql.createContainer(database, definition);
  const collection = String(definition.id);
  done(`created container ${collection}`);
  await shown({ door: 'nosql', database, collection });
}

/** Makes the collection's name known to the server; its time to live is a second step. */
export async function createCollection(database: string, name: string): Promise<void> {
  await mongo.run(database, { create: name });
}

/** Sets the default of a collection that was just made, and shows it. */
export async function finishCollection(
  database: string,
  name: string,
  ttl: number | undefined,
): Promise<void> {
  if (ttl !== undefined) {
    const index = { key: { _ts: 1 }, name: '_ts_1', expireAfterSeconds: ttl };
    await mongo.run(database, { createIndexes: name, indexes: [index] });
  }
  done(`created collection ${name}`);
  await shown({ door: 'mongo', database, collection: name });
}

export async function showDatabase(door: Door, database: string): Promise<void> {
  await loadTreeWith({ door, database });
  go({ page: 'database', door, database });
}

/** The page goes up when what it shows is no more. */
function goUp(here: Place, door: Door, database: string, collection?: string): void {
  if (here.page !== 'database' && here.page !== 'collection') return;
  if (here.door !== door || here.database !== database) return;
  if (collection === undefined) go({ page: 'home' });
  else if (here.page === 'collection' && here.collection === collection) {
    go({ page: 'database', door, database });
  }
}

export async function deleteDatabase(here: Place, door: Door, database: string): Promise<void> {
  if (door === 'nosql') await nosql.deleteDatabase(database);
  else await mongo.run(database, { dropDatabase: 1 });
  done(`deleted database ${database}`);
  goUp(here, door, database);
  await loadTree();
}

export async function deleteCollection(here: Place, target: Target): Promise<void> {
  const { door, database, collection } = target;
  if (door === 'nosql') await nosql.deleteContainer(database, collection);
  else await mongo.run(database, { drop: collection });
  done(`deleted ${noun(door)} ${collection}`);
  goUp(here, door, database, collection);
  await loadCollections(door, database);
  // A MongoDB database without collections is none.
  await loadTree();
}
