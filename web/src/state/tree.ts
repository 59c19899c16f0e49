// Databases of both APIs and their collections, as last loaded.

import { words } from '../api/http';
import * as mongo from '../api/mongo';
import * as nosql from '../api/nosql';
import { session } from '../api/session';
import type { Door, Place, Target } from './place';
import { createStore } from './store';

export interface Branch {
  door: Door;
  name: string;
  /** null: not loaded yet. */
  collections: string[] | null;
  failure: string | null;
}

export interface Tree {
  branches: Branch[];
  loading: boolean;
  /** Whether it was loaded at least once. */
  read: boolean;
  failures: string[];
}

export const tree = createStore<Tree>({ branches: [], loading: false, read: false, failures: [] });

function branchOf(
  branches: readonly Branch[],
  { door, database }: Pick<Target, 'door' | 'database'>,
): Branch | undefined {
  return branches.find((branch) => branch.door === door && branch.name === database);
}

/** Returns whether the tree lists a collection. Pure. */
export function isListed({ branches }: Tree, target: Target): boolean {
  return branchOf(branches, target)?.collections?.includes(target.collection) === true;
}

/** Returns the collection that a text such as "app › logs" names, if the tree lists it. Pure. */
export function targetOf({ branches }: Tree, door: Door, text: string): Target | null {
  for (const { door: other, name: database, collections } of branches) {
    if (other !== door || !text.startsWith(`${database} › `)) continue;
    const collection = text.slice(database.length + 3);
    if (collections?.includes(collection) === true) return { door, database, collection };
  }
  return null;
}

/** As `targetOf` for a text such as "mongo/app/logs"; names may contain slashes. Pure. */
export function targetAt({ branches }: Tree, text: string): Target | null {
  for (const { door, name: database, collections } of branches) {
    const before = `${door}/${database}/`;
    const collection = text.startsWith(before) ? text.slice(before.length) : '';
    if (collections?.includes(collection) === true) return { door, database, collection };
  }
  return null;
}

/** Returns whether the tree is loaded and lacks the database or collection of a place. Pure. */
export function isAbsent({ branches, loading, read, failures }: Tree, place: Place): boolean {
  if (place.page !== 'collection' && place.page !== 'database') return false;
  if (loading || !read || failures.length > 0) return false;
  const branch = branchOf(branches, place);
  if (branch === undefined || place.page === 'database') return branch === undefined;
  return branch.collections !== null && !branch.collections.includes(place.collection);
}

const collator = new Intl.Collator('en', { numeric: true });

/** Compares names case-insensitively first, with numbers by value. Pure. */
export function byName(a: string, b: string): number {
  return collator.compare(a, b) || (a < b ? -1 : a > b ? 1 : 0);
}

/** Orders the databases of both APIs by name, for equal names the NoSQL API's first. Pure. */
export function byBranch(
  a: Pick<Branch, 'door' | 'name'>,
  b: Pick<Branch, 'door' | 'name'>,
): number {
  return byName(a.name, b.name) || Number(a.door === 'mongo') - Number(b.door === 'mongo');
}

async function databasesOf(door: Door, aside: boolean): Promise<string[]> {
  if (door === 'mongo') return mongo.listDatabases({ aside });
  return (await nosql.listDatabases({ aside })).map((record) => record.id);
}

async function collectionsOf(door: Door, database: string): Promise<string[]> {
  if (door === 'mongo') return mongo.listCollections(database);
  return (await nosql.listContainers(database)).map((record) => record.id);
}

/** Number of loads started. */
let asked = 0;

/** Loads the databases of both APIs. `quietly`: without loading state, keeping failures. */
export async function loadTree(quietly = false): Promise<void> {
  asked += 1;
  const turn = asked;
  const doors = session.get()?.doors;
  const open: Door[] = [];
  if (doors?.cosmos != null) open.push('nosql');
  if (doors?.mongo != null) open.push('mongo');
  if (!quietly) tree.update((known) => ({ ...known, loading: true }));
  const failures: string[] = [];
  const found = await Promise.all(
    open.map(async (door) => {
      try {
        return (await databasesOf(door, quietly)).map((name) => ({ door, name }));
      } catch (error) {
        if (!quietly) failures.push(words(error));
        return tree.get().branches.filter((branch) => branch.door === door);
      }
    }),
  );
  // A newer load has started: this response may predate a change by this page.
  if (quietly && turn !== asked) return;
  tree.update(({ branches }) => ({
    loading: false,
    read: true,
    failures: quietly ? tree.get().failures : failures,
    branches: found
      .flat()
      .sort(byBranch)
      .map(({ door, name }) => {
        const known = branches.find((branch) => branch.door === door && branch.name === name);
        return known ?? { door, name, collections: null, failure: null };
      }),
  }));
}

/** Reloads the databases and all collections that were ever loaded. */
export async function refreshTree(): Promise<void> {
  await loadTree();
  const asked = tree
    .get()
    .branches.filter((branch) => branch.collections !== null || branch.failure !== null);
  await Promise.all(asked.map((branch) => loadCollections(branch.door, branch.name)));
}

function put(door: Door, name: string, change: Partial<Branch>): void {
  tree.update((known) => ({
    ...known,
    branches: known.branches.map((branch) =>
      branch.door === door && branch.name === name ? { ...branch, ...change } : branch,
    ),
  }));
}

export async function loadCollections(door: Door, name: string): Promise<void> {
  try {
    const collections = (await collectionsOf(door, name)).sort(byName);
    put(door, name, { collections, failure: null });
  } catch (error) {
    put(door, name, { failure: words(error) });
  }
}

/** Reloads the databases, then the collections of one. */
export async function loadTreeWith({
  door,
  database,
}: Pick<Target, 'door' | 'database'>): Promise<void> {
  await loadTree();
  await loadCollections(door, database);
}
