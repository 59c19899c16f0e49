// Reads and sets the default TTL of several collections, one after another.
import { collectionsOf, type DefaultTtl, preview } from '../../../api/admin';
import { ApiError, words } from '../../../api/http';
import { listIndexes, run } from '../../../api/mongo';
import { readContainer, replaceContainer } from '../../../api/nosql';
import type { Door, Target } from '../../../state/place';
import { commandsFor, defaultOf } from '../indexes/ttlIndex';
import type { Look, Looks, Result } from './looks';

const AT_ONCE = 4;

export interface Several {
  door: Door;
  database: string;
  names: readonly string[];
}

/** Returns a preview of each collection in order. */
export async function lookAt(
  { door, database, names }: Several,
  value: DefaultTtl,
  signal?: AbortSignal,
): Promise<Looks> {
  const all = await collectionsOf(database);
  const looks = new Map<string, Look>(
    names.map((name) => [name, { failure: 'It does not exist.' }]),
  );
  const waiting = all.filter(({ api, collection }) => api === door && looks.has(collection));
  const work = async () => {
    for (let facts = waiting.pop(); facts !== undefined; facts = waiting.pop()) {
      const { collection } = facts;
      try {
        const found = await preview({ door, database, collection }, value, signal);
        looks.set(collection, { facts, preview: found });
      } catch (error) {
        if (signal?.aborted === true) throw error;
        looks.set(collection, { failure: words(error) });
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return looks;
}

/** Sets the default; returns whether it was changed. */
async function change({ door, database, collection }: Target, value: DefaultTtl): Promise<boolean> {
  if (door === 'mongo') {
    const indexes = await listIndexes(database, collection);
    if (defaultOf(indexes) === value) return false;
    for (const command of commandsFor(collection, indexes, value)) await run(database, command);
    return true;
  }
  const { defaultTtl, ...rest } = await readContainer(database, collection);
  if ((defaultTtl ?? null) === value) return false;
  const record = value === null ? rest : { ...rest, defaultTtl: value };
  await replaceContainer(database, record, rest._etag);
  return true;
}

const FASTER = 'Someone else changed it at the same time, and nothing was set. Try again.';

/** Sets the default of one collection; returns the outcome. */
export async function setDefault(target: Target, value: DefaultTtl): Promise<Result> {
  try {
    return { kind: (await change(target, value)) ? 'set' : 'same' };
  } catch (error) {
    const isFaster = error instanceof ApiError && error.status === 412;
    return { kind: 'failed', text: isFaster ? FASTER : words(error) };
  }
}
