// Creates and deletes databases, containers and collections: requests, console messages, and
// navigation afterwards.
import { ApiError, words } from '../../api/http';
import * as mongo from '../../api/mongo';
import * as nosql from '../../api/nosql';
import { say, toast } from '../../state/log';
import type { Door, Place, Target } from '../../state/place';
import { go } from '../../state/router';
import { loadCollections, loadTree, loadTreeWith } from '../../state/tree';
import { noun } from '../dialogs';
import { FormError } from './definition';

function done(text: string): void {
  say({ kind: 'done', text: `Successfully ${text}` });
}

/** MongoDB's error code for an existing collection. */
const NAMESPACE_EXISTS = 48;

/** Turns a name conflict into an error of the field with the name. */
export async function naming<T>(field: 'name' | 'database', make: Promise<T>): Promise<T> {
  try {
    return await make;
  } catch (error) {
    const isTaken =
      error instanceof ApiError &&
      (error.status === 409 || ('number' in error && error.number === NAMESPACE_EXISTS));
    throw isTaken ? new FormError(field, words(error)) : error;
  }
}

export async function createDatabase(name: string, throughput?: number): Promise<void> {
  await naming('database', nosql.createDatabase(name, throughput));
}

/** Shows a new collection. */
export async function shown(target: Target): Promise<void> {
  await loadTreeWith(target);
  go({ page: 'collection', view: 'items', ...target });
}

export async function createContainer(
  database: string,
  definition: Record<string, unknown>,
): Promise<void> {
  await naming('name', nosql.createContainer(database, definition));
  const collection = String(definition.id);
  await shown({ door: 'nosql', database, collection });
  done(`created container ${collection}`);
}

/** Creates the collection; its TTL is set by a second command. */
export async function createCollection(database: string, name: string): Promise<void> {
  await naming('name', mongo.run(database, { create: name }));
}

/** Sets the default TTL of a new collection, and shows it. */
export async function finishCollection(
  database: string,
  name: string,
  ttl: number | undefined,
): Promise<void> {
  if (ttl !== undefined) {
    const index = { key: { _ts: 1 }, name: '_ts_1', expireAfterSeconds: ttl };
    await mongo.run(database, { createIndexes: name, indexes: [index] });
  }
  await shown({ door: 'mongo', database, collection: name });
  done(`created collection ${name}`);
}

export async function showDatabase(door: Door, database: string): Promise<void> {
  await loadTreeWith({ door, database });
  go({ page: 'database', door, database });
  done(`created database ${database}`);
}

/** Leaves a page whose object was deleted. */
function goUp(here: Place, door: Door, database: string, collection?: string): void {
  if (here.page !== 'database' && here.page !== 'collection') return;
  if (here.door !== door || here.database !== database) return;
  if (collection === undefined) go({ page: 'home' });
  else if (here.page === 'collection' && here.collection === collection) {
    go({ page: 'database', door, database });
  }
}

/** Renames a collection; a page about it follows. */
export async function renameCollection(here: Place, target: Target, name: string): Promise<void> {
  const { door, database, collection } = target;
  const command = { renameCollection: `${database}.${collection}`, to: `${database}.${name}` };
  await naming('name', mongo.run('admin', command));
  await loadCollections(door, database);
  if (
    here.page === 'collection' &&
    here.door === door &&
    here.database === database &&
    here.collection === collection
  ) {
    go({ ...here, collection: name });
  }
  toast({ text: `Renamed ${collection} to ${name}` });
}

export async function deleteDatabase(here: Place, door: Door, database: string): Promise<void> {
  if (door === 'nosql') await nosql.deleteDatabase(database);
  else await mongo.run(database, { dropDatabase: 1 });
  goUp(here, door, database);
  done(`deleted database ${database}`);
  await loadTree();
}

export async function deleteCollection(here: Place, target: Target): Promise<void> {
  const { door, database, collection } = target;
  if (door === 'nosql') await nosql.deleteContainer(database, collection);
  else await mongo.run(database, { drop: collection });
  goUp(here, door, database, collection);
  done(`deleted ${noun(door)} ${collection}`);
  await loadCollections(door, database);
  // A MongoDB database without collections does not exist.
  await loadTree();
}
