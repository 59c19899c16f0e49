// The subset of the NoSQL REST API that the portal uses. Types are those of the protocol. Items
// stay text where parsing would change their numbers.
import { askAhead } from './ahead';
import { type Answer, ApiError, type Ask, send } from './http';

export interface DatabaseRecord {
  id: string;
  _rid: string;
  _etag: string;
}

export interface ContainerRecord {
  id: string;
  _rid: string;
  _self: string;
  _etag: string;
  defaultTtl?: number;
  partitionKey: { paths: string[]; kind?: string; version?: number };
  indexingPolicy?: Record<string, unknown>;
  uniqueKeyPolicy?: { uniqueKeys: { paths: string[] }[] };
  changeFeedPolicy?: { retentionDuration: number };
  conflictResolutionPolicy?: Record<string, unknown>;
  [other: string]: unknown;
}

export type Item = Record<string, unknown> & {
  id: string;
  _ts: number;
  _etag: string;
  _rid: string;
};

export interface Page<T> {
  rows: T[];
  /** Positions of the rows that the server has cut to the start of each field. */
  cut: readonly number[];
  /** Continuation token; null: this is the last page. */
  continuation: string | null;
  charge: number;
  /** `x-ms-documentdb-query-metrics` and the index metrics, as sent. */
  metrics: string | null;
  indexMetrics: string | null;
  /** The body as the server sent it. */
  text: string;
}

const ROOT = '/_portal/api/nosql';
const VERSION = { 'x-ms-version': '2020-07-15' };
/** The largest page of a feed. */
const WHOLE = { 'x-ms-max-item-count': '1000' };
/** Lets the server cut large items to the start of each field, as `cutting.ts` does for documents. */
export const CUT = { 'x-ebb-cut': 'true' };
const JSON_TYPE = { 'content-type': 'application/json' };

/**
 * Returns `/dbs/a/colls/b` with every name encoded. Throws for `.` and `..`: browsers remove these
 * segments even when encoded, so the request would reach the parent resource.
 */
export function link(...names: [database?: string, container?: string, item?: string]): string {
  const kinds = ['dbs', 'colls', 'docs'];
  const dots = names.find((name) => name === '.' || name === '..');
  if (dots !== undefined) {
    const message = `A browser cannot request a resource named “${dots}”. Use another client.`;
    throw new ApiError('refused', 0, 'BadName', message);
  }
  return names.map((name, at) => `/${kinds[at]}/${encodeURIComponent(name ?? '')}`).join('');
}

/** Sends a request to the NoSQL API. Every method but a read counts as a change. */
export function ask(
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
  more: Partial<Ask> = {},
) {
  const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
  return send({
    method,
    path: ROOT + path,
    headers: { ...VERSION, ...(text === undefined ? {} : JSON_TYPE), ...headers },
    ...(text === undefined ? {} : { body: text }),
    changes: method !== 'GET' && headers['x-ms-documentdb-isquery'] === undefined,
    ...more,
  });
}

/** Prefetches the databases, containers and definition that a page needs. */
export function aheadOf(database?: string, container?: string): void {
  askAhead(`${ROOT}/dbs`, { ...VERSION, ...WHOLE });
  if (database === undefined) return;
  askAhead(`${ROOT}${link(database)}/colls`, { ...VERSION, ...WHOLE });
  if (container !== undefined) askAhead(`${ROOT}${link(database, container)}`, VERSION);
}

function page<T>(answer: Answer, name: string): Page<T> {
  const text = answer.text();
  const body = JSON.parse(text) as Record<string, unknown>;
  const { headers } = answer;
  return {
    rows: (body[name] ?? []) as T[],
    cut: (body._cut ?? []) as number[],
    continuation: headers.get('x-ms-continuation'),
    charge: Number(headers.get('x-ms-request-charge') ?? 0),
    metrics: headers.get('x-ms-documentdb-query-metrics'),
    indexMetrics: headers.get('x-ms-cosmos-index-utilization'),
    text,
  };
}

async function all<T>(path: string, name: string, more: Partial<Ask> = {}): Promise<T[]> {
  const found: T[] = [];
  let continuation: string | null = null;
  do {
    const headers: Record<string, string> = { ...WHOLE };
    if (continuation !== null) headers['x-ms-continuation'] = continuation;
    const answered: Page<T> = page<T>(await ask('GET', path, undefined, headers, more), name);
    found.push(...answered.rows);
    continuation = answered.continuation;
  } while (continuation !== null);
  return found;
}

export const listDatabases = (more: Partial<Ask> = {}) =>
  all<DatabaseRecord>('/dbs', 'Databases', more);
export const listContainers = (database: string) =>
  all<ContainerRecord>(`${link(database)}/colls`, 'DocumentCollections');

export async function readDatabase(id: string): Promise<DatabaseRecord> {
  return (await ask('GET', link(id))).json() as DatabaseRecord;
}
/** `throughput`: request units per second that the containers share. */
export async function createDatabase(id: string, throughput?: number): Promise<void> {
  const headers: Record<string, string> =
    throughput === undefined ? {} : { 'x-ms-offer-throughput': String(throughput) };
  await ask('POST', '/dbs', { id }, headers);
}
export async function deleteDatabase(id: string): Promise<void> {
  await ask('DELETE', link(id));
}
/** `offer`: throughput of the container alone, in the format of another container's offer. */
export async function createContainer(
  database: string,
  definition: unknown,
  offer: OfferRecord['content'] = {},
): Promise<void> {
  const { offerThroughput: units, offerAutopilotSettings: autoscale } = offer;
  const headers: Record<string, string> =
    autoscale !== undefined
      ? { 'x-ms-cosmos-offer-autopilot-settings': JSON.stringify(autoscale) }
      : units !== undefined
        ? { 'x-ms-offer-throughput': String(units) }
        : {};
  await ask('POST', `${link(database)}/colls`, definition, headers);
}
export async function deleteContainer(database: string, container: string): Promise<void> {
  await ask('DELETE', link(database, container));
}
export async function readContainer(database: string, container: string): Promise<ContainerRecord> {
  return (await ask('GET', link(database, container))).json() as ContainerRecord;
}

/** Returns the resource usage header of a container; empty if the server sends none. */
export async function containerUsage(database: string, container: string): Promise<string> {
  const headers = { 'x-ms-documentdb-populatequotainfo': 'true' };
  const path = link(database, container);
  const answer = await ask('GET', path, undefined, headers, { quiet: true, aside: true });
  return answer.headers.get('x-ms-resource-usage') ?? '';
}

/** Replaces the definition; with `etag`, only if unchanged (412 otherwise). */
export async function replaceContainer(
  database: string,
  definition: ContainerRecord,
  etag?: string,
): Promise<ContainerRecord> {
  const headers: Record<string, string> = etag === undefined ? {} : { 'if-match': etag };
  const answer = await ask('PUT', link(database, definition.id), definition, headers);
  return answer.json() as ContainerRecord;
}

export interface Place {
  database: string;
  container: string;
}

/** Values of a partition key as in the header: `["a"]`; undefined is encoded as `{}`. */
export type PartitionKey = readonly unknown[];

export function keyHeader(key: PartitionKey): Record<string, string> {
  const text = JSON.stringify(key.map((value) => (value === undefined ? {} : value)));
  // Header values are ASCII.
  const ascii = text.replace(
    /[\u0080-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return { 'x-ms-documentdb-partitionkey': ascii };
}

/** The text of an item as the server sent it, and its ETag. */
export interface ItemText {
  text: string;
  etag: string;
}

function itemText(answer: Answer): ItemText {
  return { text: answer.text(), etag: answer.headers.get('etag') ?? '' };
}

export async function readItem(
  at: Place,
  id: string,
  key: PartitionKey,
  signal?: AbortSignal,
): Promise<ItemText> {
  const path = link(at.database, at.container, id);
  return itemText(await ask('GET', path, undefined, keyHeader(key), { signal }));
}
/** Reads an item in the background; null if it still has this ETag. */
export async function readItemUnless(
  at: Place,
  id: string,
  key: PartitionKey,
  etag: string,
  signal: AbortSignal,
): Promise<ItemText | null> {
  const path = link(at.database, at.container, id);
  const headers = { ...keyHeader(key), 'if-none-match': etag };
  const more = { also: [304], quiet: true, aside: true, signal };
  const answer = await ask('GET', path, undefined, headers, more);
  return answer.status === 304 ? null : itemText(answer);
}
export async function createItem(
  at: Place,
  text: string,
  key: PartitionKey,
  signal?: AbortSignal,
): Promise<ItemText> {
  const path = `${link(at.database, at.container)}/docs`;
  return itemText(await ask('POST', path, text, keyHeader(key), { signal }));
}
export async function replaceItem(
  at: Place,
  id: string,
  text: string,
  key: PartitionKey,
  etag?: string,
  signal?: AbortSignal,
): Promise<ItemText> {
  const match: Record<string, string> = etag === undefined ? {} : { 'if-match': etag };
  const path = link(at.database, at.container, id);
  return itemText(await ask('PUT', path, text, { ...keyHeader(key), ...match }, { signal }));
}
/** PATCH with operations `{op, path, value}`. */
export async function patchItem(
  at: Place,
  id: string,
  operations: unknown[],
  key: PartitionKey,
  etag?: string,
  signal?: AbortSignal,
): Promise<ItemText> {
  const match: Record<string, string> = etag === undefined ? {} : { 'if-match': etag };
  const path = link(at.database, at.container, id);
  return itemText(
    await ask('PATCH', path, { operations }, { ...keyHeader(key), ...match }, { signal }),
  );
}
export async function deleteItem(
  at: Place,
  id: string,
  key: PartitionKey,
  etag?: string,
): Promise<void> {
  const match: Record<string, string> = etag === undefined ? {} : { 'if-match': etag };
  const path = link(at.database, at.container, id);
  await ask('DELETE', path, undefined, { ...keyHeader(key), ...match });
}

/** Result of one item of a batch. */
export interface ItemOutcome {
  statusCode: number;
  message?: string;
}

/** Writes up to 100 items, independent of each other. `key`: partition key as JSON: `["a"]`. */
export async function writeMany(
  at: Place,
  kind: 'Create' | 'Upsert',
  items: readonly { text: string; key: string }[],
  signal: AbortSignal,
): Promise<ItemOutcome[]> {
  const operations = items.map(
    ({ text, key }) =>
      `{"operationType":"${kind}","partitionKey":${JSON.stringify(key)},"resourceBody":${text}}`,
  );
  const headers = {
    'x-ms-cosmos-is-batch-request': 'True',
    'x-ms-cosmos-batch-atomic': 'False',
    'x-ms-cosmos-batch-continue-on-error': 'True',
    prefer: 'return=minimal',
  };
  const path = `${link(at.database, at.container)}/docs`;
  const more = { quiet: true, timeoutMs: 120_000, signal };
  const answer = await ask('POST', path, `[${operations.join(',')}]`, headers, more);
  return answer.json() as ItemOutcome[];
}

export interface QueryOptions {
  parameters?: { name: string; value: unknown }[];
  continuation?: string | null;
  maxItems?: number;
  metrics?: boolean;
  /** Whether the server may cut large items; `Page.cut` lists those. */
  mayCut?: boolean;
  /** Logged in the console only on failure. */
  quiet?: boolean;
  signal?: AbortSignal;
}

/** Reads one page of a query over all partitions. */
export async function query<T = Item>(
  at: Place,
  text: string,
  options: QueryOptions = {},
): Promise<Page<T>> {
  const {
    parameters = [],
    continuation,
    maxItems = 100,
    metrics = false,
    mayCut = false,
    quiet = false,
    signal,
  } = options;
  const headers: Record<string, string> = {
    ...VERSION,
    'content-type': 'application/query+json',
    'x-ms-documentdb-isquery': 'True',
    'x-ms-documentdb-query-enablecrosspartition': 'True',
    'x-ms-max-item-count': String(maxItems),
  };
  if (continuation != null) headers['x-ms-continuation'] = continuation;
  if (mayCut) Object.assign(headers, CUT);
  if (metrics) {
    headers['x-ms-documentdb-populatequerymetrics'] = 'True';
    headers['x-ms-cosmos-populateindexmetrics'] = 'True';
  }
  const answer = await send({
    method: 'POST',
    path: `${ROOT}${link(at.database, at.container)}/docs`,
    headers,
    body: JSON.stringify({ query: text, parameters }),
    timeoutMs: 120_000,
    quiet,
    ...(signal === undefined ? {} : { signal }),
  });
  return page<T>(answer, 'Documents');
}

export interface OfferRecord {
  id: string;
  _rid: string;
  _self: string;
  _etag: string;
  resource: string;
  offerResourceId: string;
  offerVersion: string;
  content: { offerThroughput?: number; offerAutopilotSettings?: { maxThroughput: number } };
}

/** Returns the offer of a database or container by its rid; null if it has none. */
export async function findOffer(rid: string): Promise<OfferRecord | null> {
  const headers = {
    'content-type': 'application/query+json',
    'x-ms-documentdb-isquery': 'True',
  };
  const text = 'SELECT * FROM root r WHERE r.offerResourceId = @rid';
  const body = { query: text, parameters: [{ name: '@rid', value: rid }] };
  const found = page<OfferRecord>(await ask('POST', '/offers', body, headers), 'Offers');
  return found.rows[0] ?? null;
}
/** Replaces an offer; with `etag`, only if unchanged (412 otherwise). */
export async function replaceOffer(offer: OfferRecord, etag?: string): Promise<OfferRecord> {
  const match: Record<string, string> = etag === undefined ? {} : { 'if-match': etag };
  const answer = await ask('PUT', `/offers/${encodeURIComponent(offer.id)}`, offer, match);
  return answer.json() as OfferRecord;
}
