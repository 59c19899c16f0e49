// Commands of the MongoDB API, sent and received as BSON. Values keep their BSON types (Int32,
// Double, Long, ObjectId, …), so that a document can be written back unchanged.
import type { Document } from 'bson';
import { arrival, early } from '../state/arrival';
import { say } from '../state/log';
import { readFarDates, writeFarDates } from './farDates';
import { ApiError, send } from './http';

export type { Document } from 'bson';

/** Decoder options that keep the BSON types. */
export const KEEP_TYPES = {
  promoteValues: false,
  promoteBuffers: false,
  bsonRegExp: true,
} as const;

/** Code of a command that works on collections only and names a view. */
const NOT_ON_VIEW = 166;

/** A refused command: `ok: 0`, or a write error. */
export class CommandError extends ApiError {
  constructor(
    readonly number: number,
    codeName: string,
    message: string,
    activityId: string | null,
  ) {
    super('refused', 200, codeName, message, activityId);
  }
}

/** Converts a number of any BSON type. */
export function numberOf(value: unknown): number {
  return Number(value);
}

function firstError(reply: Document): { code: unknown; message: unknown; name?: unknown } | null {
  if (numberOf(reply.ok) !== 1) {
    return { code: reply.code, message: reply.errmsg, name: reply.codeName };
  }
  const errors = reply.writeErrors as Document[] | undefined;
  const first = errors?.[0];
  return first === undefined ? null : { code: first.code, message: first.errmsg };
}

export interface CommandOptions {
  signal?: AbortSignal | undefined;
  quiet?: boolean;
  /** As in a request: runs in the background. */
  aside?: boolean;
  timeoutMs?: number;
  /** Write errors are left in the reply instead of being thrown. */
  each?: boolean;
  /** Returns the documents of a batch as bytes. */
  raw?: boolean;
}

/** The BSON library is a separate chunk: the frame is shown without it. */
const loadBson = early(() => import('bson'));
let bson: typeof import('bson') | null = null;

/** Loads the BSON library before the first command. */
export async function aheadOfCommands(): Promise<void> {
  bson = await loadBson();
}

const RAW_BATCHES = { ...KEEP_TYPES, fieldsAsRaw: { firstBatch: true, nextBatch: true } };

/** Commands that change data; `aggregate` does if it has a writing stage, `customAction` unless it shows. */
const CHANGING: ReadonlySet<string> = new Set([
  'insert',
  'update',
  'delete',
  'findAndModify',
  'create',
  'drop',
  'dropDatabase',
  'renameCollection',
  'createIndexes',
  'dropIndexes',
  'collMod',
  'customAction',
]);

/** Commands with a long timeout: they build indexes or counters over all documents. */
const BUILDING: ReadonlySet<string> = new Set(['createIndexes', 'collMod']);

const [USUAL_MS, BUILD_MS] = [120_000, 6 * 3600_000];

function isChange(name: string, command: Document): boolean {
  const { pipeline } = command;
  const last: unknown = Array.isArray(pipeline) ? pipeline.at(-1) : undefined;
  const writes = typeof last === 'object' && last !== null && ('$out' in last || '$merge' in last);
  const shows = name === 'customAction' && String(command[name]).startsWith('Get');
  return (CHANGING.has(name) && !shows) || (name === 'aggregate' && writes);
}

/** Runs a command, named by its first field. Throws `CommandError` if it is refused. */
export async function run(
  database: string,
  command: Document,
  options: CommandOptions = {},
): Promise<Document> {
  const name = Object.keys(command)[0] ?? '';
  const about =
    typeof command[name] === 'string' ? ` ${database}.${command[name]}` : ` ${database}`;
  const began = performance.now();
  // Does not yield once the library is loaded: a page that unloads must send at once.
  bson ??= await arrival(loadBson);
  const body = Uint8Array.from(bson.serialize(command, { ignoreUndefined: true }));
  writeFarDates(body, command);
  const answer = await send({
    method: 'POST',
    path: `/_portal/api/mongo/${encodeURIComponent(database)}`,
    headers: { 'content-type': 'application/bson' },
    body,
    quiet: true,
    timeoutMs: BUILDING.has(name) ? BUILD_MS : USUAL_MS,
    changes: isChange(name, command),
    ...options,
  });
  const isRaw = options.raw === true;
  const reply = bson.deserialize(answer.bytes, isRaw ? RAW_BATCHES : KEEP_TYPES);
  if (!isRaw) readFarDates(answer.bytes, reply);
  const activityId = answer.headers.get('x-ms-activity-id');
  const isTold = options.each === true && numberOf(reply.ok) === 1;
  const failed = isTold ? null : firstError(reply);
  if (options.aside !== true && (options.quiet !== true || failed !== null)) {
    say({
      kind: failed === null ? 'request' : 'failed',
      about: name + about,
      text: name + about + (failed === null ? '' : `: ${String(failed.message)}`),
      ms: Math.round((performance.now() - began) * 10) / 10,
      ...(failed === null ? {} : { status: numberOf(failed.code) }),
      ...(activityId === null ? {} : { activityId }),
    });
  }
  if (failed === null) return reply;
  const codeName = failed.name === undefined ? String(failed.code) : String(failed.name);
  throw new CommandError(numberOf(failed.code), codeName, String(failed.message), activityId);
}

export interface Batch<D = Document> {
  documents: D[];
  /** Id for `getMore`; null: this was the last batch. */
  cursor: unknown;
}

const CLOSE_MS = 5000;

/** Cursors that are open on the server for this page, by id. */
const held = new Map<string, { database: string; collection: string; cursor: unknown }>();

function batchOf<D>(database: string, reply: Document): Batch<D> {
  const answered = reply.cursor as Document;
  const documents = (answered.firstBatch ?? answered.nextBatch) as D[];
  if (numberOf(answered.id) === 0) return { documents, cursor: null };
  const [cursor, namespace] = [answered.id, String(answered.ns)];
  held.set(String(cursor), { database, collection: namespace.slice(database.length + 1), cursor });
  return { documents, cursor };
}

/** Runs a command that returns a cursor. The caller closes it unless it reads to the end. */
export async function open(
  database: string,
  command: Document,
  options?: CommandOptions,
): Promise<Batch> {
  return batchOf(database, await run(database, command, options));
}

/** As `open`, with documents as bytes. */
export async function openRaw(
  database: string,
  command: Document,
  options?: CommandOptions,
): Promise<Batch<Uint8Array>> {
  return batchOf(database, await run(database, command, { ...options, raw: true }));
}

/** Returns the next batch. On failure the cursor's position is unknown, so it is closed. */
export function more(
  database: string,
  collection: string,
  cursor: unknown,
  batchSize: number,
  options?: CommandOptions,
): Promise<Batch> {
  return nextOf(database, collection, cursor, batchSize, options);
}

/** As `more`, with documents as bytes. */
export function moreRaw(
  database: string,
  collection: string,
  cursor: unknown,
  batchSize: number,
  options?: CommandOptions,
): Promise<Batch<Uint8Array>> {
  return nextOf(database, collection, cursor, batchSize, { ...options, raw: true });
}

async function nextOf<D>(
  database: string,
  collection: string,
  cursor: unknown,
  batchSize: number,
  options?: CommandOptions,
): Promise<Batch<D>> {
  try {
    const reply = await run(database, { getMore: cursor, collection, batchSize }, options);
    held.delete(String(cursor));
    return batchOf(database, reply);
  } catch (error) {
    void close(cursor);
    throw error;
  }
}

/** Closes a cursor; does nothing if it is exhausted or closed. */
export async function close(cursor: unknown): Promise<void> {
  const known = held.get(String(cursor));
  held.delete(String(cursor));
  if (known === undefined) return;
  const { database, collection } = known;
  try {
    await run(
      database,
      { killCursors: collection, cursors: [cursor] },
      { aside: true, timeoutMs: CLOSE_MS },
    );
  } catch {
    // The server's idle timeout closes it.
  }
}

/** Closes all cursors of this page. */
export async function closeAll(): Promise<void> {
  await Promise.all([...held.values()].map(({ cursor }) => close(cursor)));
}

/** Reads a cursor to its end. */
async function all(
  database: string,
  command: Document,
  collection: string,
  options?: CommandOptions,
): Promise<Document[]> {
  const found: Document[] = [];
  let batch = await open(database, command, options);
  found.push(...batch.documents);
  while (batch.cursor !== null) {
    batch = await more(database, collection, batch.cursor, 1000, options);
    found.push(...batch.documents);
  }
  return found;
}

/** As `all`, with documents as bytes. */
export async function allRaw(
  database: string,
  command: Document,
  collection: string,
  options?: CommandOptions,
): Promise<Uint8Array[]> {
  let batch = await openRaw(database, command, options);
  const found = [...batch.documents];
  while (batch.cursor !== null) {
    batch = await moreRaw(database, collection, batch.cursor, 1000, options);
    found.push(...batch.documents);
  }
  return found;
}

/** System databases, listed even when they are empty. */
const OF_THE_SERVER: ReadonlySet<string> = new Set(['admin', 'config', 'local']);

/** Returns the databases that have a collection, without empty system databases. */
export async function listDatabases(options: CommandOptions = {}): Promise<string[]> {
  const reply = await run('admin', { listDatabases: 1, nameOnly: true }, options);
  const names = (reply.databases as Document[]).map((found) => String(found.name));
  const holds = await Promise.all(
    names.map(async (name) => {
      if (!OF_THE_SERVER.has(name)) return true;
      return (await listCollections(name, options)).length > 0;
    }),
  );
  return names.filter((_, at) => holds[at]);
}

export async function listCollections(
  database: string,
  options: CommandOptions = {},
): Promise<string[]> {
  const command = { listCollections: 1, nameOnly: true, cursor: { batchSize: 1000 } };
  const found = await all(database, command, '$cmd.listCollections', options);
  return found.map((record) => String(record.name));
}

export interface IndexRecord {
  name: string;
  key: Document;
  expireAfterSeconds: number | null;
  /** The entry of `listCollections`. */
  all: Document;
}

/** Returns the result of a command that works on collections only; `none` if it names a view. */
async function unlessView<T>(asked: Promise<T>, none: T): Promise<T> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof CommandError && error.number === NOT_ON_VIEW) return none;
    throw error;
  }
}

/** Returns the indexes of a collection; a view has none. */
export async function listIndexes(database: string, collection: string): Promise<IndexRecord[]> {
  const command = { listIndexes: collection, cursor: { batchSize: 1000 } };
  const found = await unlessView(all(database, command, `$cmd.listIndexes.${collection}`), []);
  return found.map((record) => ({
    name: String(record.name),
    key: record.key as Document,
    expireAfterSeconds:
      record.expireAfterSeconds === undefined ? null : numberOf(record.expireAfterSeconds),
    all: record,
  }));
}

export interface DocumentExpiry {
  id: unknown;
  /** Time of the last write in ms, rounded to seconds. */
  writtenMs: number;
  class: 'inherit' | 'explicit' | 'never';
  /** Milliseconds since the epoch; null: the document does not expire. */
  expiresAtMs: number | null;
  /** What determines the deadline: "default", "ttl", or the name of a TTL index on a date. */
  by: string | null;
}

function expiriesOf(reply: Document): DocumentExpiry[] {
  return (reply.documents as Document[]).map((found) => ({
    id: found._id,
    writtenMs: (found.written as Date).getTime(),
    class: String(found.class) as DocumentExpiry['class'],
    expiresAtMs: found.diesAt === null ? null : (found.diesAt as Date).getTime(),
    by: found.by === null ? null : String(found.by),
  }));
}

/**
 * Returns the expiry of each document; expired or deleted ones are omitted. Null if it is unknown,
 * since the collection is a view. At most 1000 ids.
 */
export async function expiryOf(
  database: string,
  collection: string,
  ids: unknown[],
  options: CommandOptions = {},
): Promise<DocumentExpiry[] | null> {
  const asked = run(database, { ebbExpiry: collection, ids }, { quiet: true, ...options });
  const reply = await unlessView<Document | null>(asked, null);
  return reply === null ? null : expiriesOf(reply);
}

/** Returns the next documents to expire and a continuation token (null: no more expire). */
export async function nextToExpire(
  database: string,
  collection: string,
  { size, after }: { size: number; after: string | null },
  options: CommandOptions = {},
): Promise<{ expiries: DocumentExpiry[]; after: string | null }> {
  const command = { ebbExpiry: collection, next: size, after };
  const reply = await run(database, command, options);
  return { expiries: expiriesOf(reply), after: reply.after === null ? null : String(reply.after) };
}
