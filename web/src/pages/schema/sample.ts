// Loads a random sample of a collection's documents, or all if they are few, with the expiry of
// each. Renders nothing.
import { calculateObjectSize } from 'bson';
import * as admin from '../../api/admin';
import * as mongo from '../../api/mongo';
import * as nosql from '../../api/nosql';
import type { Expiring } from '../../pure/schema/expiry';
import { printShell } from '../../pure/shell';
import {
  type Default,
  expiryOfDocument,
  expiryOfItem,
  meaningOfBson,
  meaningOfJson,
} from '../../pure/ttl/reasons';
import type { Target } from '../../state/place';

export const SIZES = [100, 1000, 10_000] as const;
export type Size = (typeof SIZES)[number];

export interface Sample {
  documents: unknown[];
  expiring: Expiring[];
  defaultTtl: Default;
  /** Number of live documents, estimated. */
  live: number;
  /** Whether the sample contains all documents. */
  isWhole: boolean;
  /** Whether loading stopped early at the size limit. */
  isCut: boolean;
}

/** Limit for the browser's memory. */
const MOST_BYTES = 64 * 1024 * 1024;
const BATCH = 500;
/** Maximum number of ids per expiry request. */
const IDS = 1000;

interface Read<T> {
  documents: T[];
  isCut: boolean;
}

async function documents(target: Target, size: number, signal: AbortSignal) {
  const { database, collection } = target;
  const options = { signal };
  const pipeline = [{ $sample: { size } }];
  const cursor = { batchSize: Math.min(BATCH, size) };
  let batch = await mongo.open(database, { aggregate: collection, pipeline, cursor }, options);
  const read: Read<mongo.Document> = { documents: [], isCut: false };
  let bytes = 0;
  for (;;) {
    read.documents.push(...batch.documents);
    for (const document of batch.documents) bytes += calculateObjectSize(document);
    if (batch.cursor === null) return read;
    if (bytes > MOST_BYTES) {
      void mongo.close(batch.cursor);
      return { ...read, isCut: true };
    }
    batch = await mongo.more(database, collection, batch.cursor, BATCH, options);
  }
}

const keyOf = (id: unknown) => printShell(id, 0);

async function ofMongo(target: Target, size: number, signal: AbortSignal): Promise<Sample> {
  const forecast = await admin.forecast(target);
  const read = await documents(target, size, signal);
  const value = forecast.default;
  const kept: mongo.Document[] = [];
  const expiring: Expiring[] = [];
  for (let at = 0; at < read.documents.length; at += IDS) {
    const some = read.documents.slice(at, at + IDS);
    const ids = some.map((document) => document._id);
    const facts = (await mongo.expiryOf(target.database, target.collection, ids)) ?? [];
    const known = new Map(facts.map((fact) => [keyOf(fact.id), fact]));
    for (const document of some) {
      // Documents that have expired or been deleted since are not counted.
      const fact = known.get(keyOf(document._id));
      if (fact === undefined) continue;
      const meaning = meaningOfBson(document.ttl);
      kept.push(document);
      expiring.push({ meaning, expiry: expiryOfDocument(meaning, fact, value) });
    }
    signal.throwIfAborted();
  }
  const live = forecast.live.documents;
  const isWhole = !read.isCut && live <= kept.length;
  return { documents: kept, expiring, defaultTtl: value, live, isWhole, isCut: read.isCut };
}

/** Selects all items, or a uniform random sample. */
export function sampleQuery(size: number, live: number): string {
  if (live <= size) return 'SELECT * FROM c';
  return `SELECT * FROM c WHERE RAND() < ${(size / live).toPrecision(6)}`;
}

async function items(target: Target, size: number, live: number, signal: AbortSignal) {
  const at = { database: target.database, container: target.collection };
  const text = sampleQuery(size, live);
  const read: Read<nosql.Item> = { documents: [], isCut: false };
  let continuation: string | null = null;
  let characters = 0;
  do {
    const options = { continuation, maxItems: 1000, signal };
    const page: nosql.Page<nosql.Item> = await nosql.query<nosql.Item>(at, text, options);
    read.documents.push(...page.rows);
    characters += page.text.length;
    continuation = page.continuation;
    if (continuation !== null && characters > MOST_BYTES) return { ...read, isCut: true };
  } while (continuation !== null && read.documents.length < 2 * size);
  return read;
}

async function ofNosql(target: Target, size: number, signal: AbortSignal): Promise<Sample> {
  const [forecast, container] = await Promise.all([
    admin.forecast(target),
    nosql.readContainer(target.database, target.collection),
  ]);
  const live = forecast.live.documents;
  const read = await items(target, size, live, signal);
  const value = container.defaultTtl ?? null;
  const expiring = read.documents.map(({ ttl, _ts }) => {
    const meaning = meaningOfJson(ttl === undefined ? null : JSON.stringify(ttl));
    return { meaning, expiry: expiryOfItem(meaning, _ts, value) };
  });
  const isWhole = !read.isCut && live <= size;
  return {
    documents: read.documents,
    expiring,
    defaultTtl: value,
    live,
    isWhole,
    isCut: read.isCut,
  };
}

export function readSample(target: Target, size: Size, signal: AbortSignal): Promise<Sample> {
  return target.door === 'mongo' ? ofMongo(target, size, signal) : ofNosql(target, size, signal);
}
