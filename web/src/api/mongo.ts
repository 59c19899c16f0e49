// Commands of the MongoDB door, as BSON there and back. Values keep their BSON types (Int32, Double,
// Long, ObjectId, …), so that what is shown can be written again unchanged.
import type { Document } from 'bson';
import { arrival, early } from '../state/arrival';
import { say } from '../state/log';
import { readFarDates, writeFarDates } from './farDates';
import { ApiError, send } from './http';

export type { Document } from 'bson';

/** How BSON is decoded: values keep their types. */
export const KEEP_TYPES = {
  promoteValues: false,
  promoteBuffers: false,
  bsonRegExp: true,
} as const;

/** What a command was refused with: `ok: 0`, or a write error. */
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

/** A number of a reply, whatever its type. */
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
  /** As of a request: nobody waits for it. */
  aside?: boolean;
  timeoutMs?: number;
  /** What was refused of a write stands in its reply, and is no failure of the command. */
  each?: boolean;
  /** Leaves the documents of a batch as bytes. */
  raw?: boolean;
}

/** The code of BSON comes apart: the frame is shown without it. */
const loadBson = early(() => import('bson'));
let bson: typeof import('bson') | null = null;

/** Loads the code that commands need, before the first of them. */
export async function aheadOfCommands(): Promise<void> {
  bson = await loadBson();
}

const RAW_BATCHES = { ...KEEP_TYPES, fieldsAsRaw: { firstBatch: true, nextBatch: true } };

/** Commands that change what there is; `aggregate` does where it writes. */
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
]);

/** These build indexes or sums over all documents, which takes as long as it takes. */
const BUILDING: ReadonlySet<string> = new Set(['createIndexes', 'collMod']);

const [USUAL_MS, BUILD_MS] = [120_000, 6 * 3600_000];

function isChange(name: string, { pipeline }: Document): boolean {
  const last: unknown = Array.isArray(pipeline) ? pipeline.at(-1) : undefined;
  const writes = typeof last === 'object' && last !== null && ('$out' in last || '$merge' in last);
  return CHANGING.has(name) || (name === 'aggregate' && writes);
}

/** Runs a command; its first field names it. Throws `CommandError` when it was refused. */
export async function run(
  database: string,
  command: Document,
  options: CommandOptions = {},
): Promise<Document> {
  const name = Object.keys(command)[0] ?? '';
  const about =
    typeof command[name] === 'string' ? ` ${database}.${command[name]}` : ` ${database}`;
  const began = performance.now();
  // Without a pause once it is there: a page that is left has no time for one.
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
  /** For `getMore`; null: this was the last. */
  cursor: unknown;
}

/** Whoever waits for a cursor to be closed waits no longer than this. */
const CLOSE_MS = 5000;

/** What the server holds for this page, by the cursor's id. */
const held = new Map<string, { database: string; collection: string; cursor: unknown }>();

function batchOf<D>(database: string, reply: Document): Batch<D> {
  const answered = reply.cursor as Document;
  const documents = (answered.firstBatch ?? answered.nextBatch) as D[];
  if (numberOf(answered.id) === 0) return { documents, cursor: null };
  const [cursor, namespace] = [answered.id, String(answered.ns)];
  held.set(String(cursor), { database, collection: namespace.slice(database.length + 1), cursor });
  return { documents, cursor };
}

/** Runs a command that answers a cursor. Who does not read it to its end closes it. */
export async function open(
  database: string,
  command: Document,
  options?: CommandOptions,
): Promise<Batch> {
  return batchOf(database, await run(database, command, options));
}

/** The same with documents as bytes. */
export async function openRaw(
  database: string,
  command: Document,
  options?: CommandOptions,
): Promise<Batch<Uint8Array>> {
  return batchOf(database, await run(database, command, { ...options, raw: true }));
}

/** The next batch of a cursor. When that fails nobody knows where the cursor stands, so it is closed. */
export function more(
  database: string,
  collection: string,
  cursor: unknown,
  batchSize: number,
  options?: CommandOptions,
): Promise<Batch> {
  return nextOf(database, collection, cursor, batchSize, options);
}

/** The same with documents as bytes. */
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

/** Closes a cursor; one that was read to its end or closed before is closed already. */
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
    // It ends by itself in a while.
  }
}

/** Closes everything that the server holds for this page. */
export async function closeAll(): Promise<void> {
  await Promise.all([...held.values()].map(({ cursor }) => close(cursor)));
}

/** All documents of a cursor. */
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

/** All documents of a cursor as bytes. */
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

/** Databases that every server lists, also where they hold nothing. */
const OF_THE_SERVER: ReadonlySet<string> = new Set(['admin', 'config', 'local']);

/** Those that hold a collection. */
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
  /** As the server lists it. */
  all: Document;
}

export async function listIndexes(database: string, collection: string): Promise<IndexRecord[]> {
  const command = { listIndexes: collection, cursor: { batchSize: 1000 } };
  const found = await all(database, command, `$cmd.listIndexes.${collection}`);
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
  /** The second of the last write, ms. */
  writtenMs: number;
  class: 'inherit' | 'explicit' | 'never';
  /** ms; null: it does not die. */
  expiresAtMs: number | null;
  /** What kills it: "default", "ttl", or the name of a date index. */
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

/** When each of these documents dies; those that are gone are left out. At most 1000 ids. */
export async function expiryOf(
  database: string,
  collection: string,
  ids: unknown[],
  options: CommandOptions = {},
): Promise<DocumentExpiry[]> {
  return expiriesOf(
    await run(database, { ebbExpiry: collection, ids }, { quiet: true, ...options }),
  );
}

/** The documents that expire next, the earliest first, and where to go on; null: no other expires. */
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
