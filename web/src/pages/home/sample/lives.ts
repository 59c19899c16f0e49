// Names and deadlines of the sample's documents, from either API.
import type { DefaultTtl } from '../../../api/admin';
import * as mongo from '../../../api/mongo';
import * as nosql from '../../../api/nosql';
import type { Target } from '../../../state/place';

export interface Life {
  name: string;
  /** Milliseconds of database time; null: does not expire. */
  expiresAtMs: number | null;
}

const MOST = 200;

/** Computes a NoSQL item's deadline: whole seconds; its own `ttl` overrides the default. */
export function deathOf(ts: number, ttl: unknown, standard: DefaultTtl): number | null {
  if (standard === null) return null;
  const seconds = typeof ttl === 'number' ? ttl : standard;
  return seconds === -1 ? null : (ts + seconds) * 1000;
}

async function itemsOf(target: Target, standard: DefaultTtl): Promise<Life[]> {
  const at = { database: target.database, container: target.collection };
  const page = await nosql.query(at, 'SELECT c.id, c.ttl, c._ts FROM c', { maxItems: MOST });
  return page.rows.map((row) => ({
    name: row.id,
    expiresAtMs: deathOf(row._ts, row.ttl, standard),
  }));
}

async function documentsOf({ database, collection }: Target): Promise<Life[]> {
  const find = { find: collection, projection: { _id: 1 }, limit: MOST, singleBatch: true };
  const { documents } = await mongo.open(database, find);
  const ids = documents.map((found) => found._id as unknown);
  const found = (await mongo.expiryOf(database, collection, ids)) ?? [];
  return found.map((record) => ({ name: String(record.id), expiresAtMs: record.expiresAtMs }));
}

/** Returns the documents, earliest deadline first. */
export async function livesOf(target: Target, standard: DefaultTtl): Promise<Life[]> {
  const found =
    target.door === 'nosql' ? await itemsOf(target, standard) : await documentsOf(target);
  const due = (life: Life) => life.expiresAtMs ?? Number.POSITIVE_INFINITY;
  return found.sort((a, b) => (due(a) === due(b) ? 0 : due(a) - due(b)));
}

/** Returns the documents that are live at an instant; at its deadline a document is expired. */
export function alive(lives: readonly Life[], nowMs: number): Life[] {
  return lives.filter(({ expiresAtMs }) => expiresAtMs === null || expiresAtMs > nowMs);
}
