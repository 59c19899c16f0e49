// Documents of a collection of the MongoDB API. Values keep their BSON types; the server reports
// when a document expires.
import { Double, Int32, ObjectId } from 'bson';
import { CUTTING } from '../../api/cutting';
import { words } from '../../api/http';
import { type Listed, listed, listedCut } from '../../api/listed';
import * as mongo from '../../api/mongo';
import { EXPIRES } from '../../pure/columns/columns';
import { documentText } from '../../pure/exporting/extended';
import { parseShell, printShell } from '../../pure/shell';
import { type Expiry, expiryOfDocument, meaningOfBson, outlook } from '../../pure/ttl/reasons';
import { bareText } from '../../pure/values/bare';
import { cut } from '../../pure/values/cut';
import { partsOfPath } from '../../pure/values/path';
import type { Target } from '../../state/place';
import { MongoMany, unchanged } from './many/mongoMany';
import type { Sort } from './sort';
import {
  type Changed,
  type Check,
  type Cursor,
  type LoadAsk,
  type Made,
  type Newer,
  type News,
  type Opened,
  type Row,
  type RowsPage,
  type Source,
  UNKNOWN_EXPIRY,
  whyNotByExpiry,
} from './source';
import { documentTemplate } from './template';
import { documentOf, isDocument } from './typedDocument';

/** Maximum number of ids per expiry request. */
const IDS = 1000;
const CURSOR_NOT_FOUND = 43;
/** Maximum size in characters of a document that is read again to detect a change. */
const READ_AGAIN = 100_000;

/**
 * Position of a find: the server's cursor, or null after it was closed; then the last id, or in
 * another order the number of documents read.
 */
interface Next {
  cursor: unknown;
  last: unknown;
  read: number;
}

const keyOf = (id: unknown) => printShell(id, 0);

const briefOf = (listed: Listed): mongo.Document => listed.brief ?? listed.value;

function isNumber(error: unknown, number: number): boolean {
  return error instanceof mongo.CommandError && error.number === number;
}

export class MongoSource implements Source {
  readonly api = 'mongo';
  readonly noun = 'document';
  readonly idField = '_id';
  readonly keys = [];
  readonly language = 'shell';
  readonly largest = { bytes: 16 * 1024 * 1024, words: '16 MB' };
  readonly filterHint = 'find';
  readonly wrongFilter = wrongFilter;
  readonly filterExample = '{ user: "ada" }';

  constructor(
    private readonly target: Target,
    readonly defaultTtl: number | null,
    readonly perDocument: boolean,
  ) {
    this.many = new MongoMany(target, {
      rowsOf: (documents) => this.rows(documents.map((value) => ({ value, brief: null }))),
      complete: (rows, signal) => this.complete(rows, signal),
    });
  }

  readonly many: MongoMany;

  /** Without an id, which is generated on creation. */
  readonly template = documentTemplate;

  shown(value: unknown): string {
    return bareText(cut(value)).slice(0, 200);
  }

  whole(value: unknown): string {
    return value === undefined ? '' : printShell(value, 0);
  }

  async complete(rows: readonly Row[], signal?: AbortSignal): Promise<readonly Row[]> {
    const cut = rows.filter(({ isCut }) => isCut === true);
    if (cut.length === 0) return rows;
    const { database, collection } = this.target;
    const filter = { _id: { $in: cut.map(({ ref }) => ref) } };
    const found = await mongo.allRaw(database, { find: collection, filter }, collection, {
      signal,
    });
    const whole = new Map(
      (await this.rows(found.map(listed), signal)).map((row) => [row.key, row] as const),
    );
    return rows.flatMap((row) => (row.isCut === true ? (whole.get(row.key) ?? []) : [row]));
  }

  /** Returns the whole document of a row. */
  private async wholeOf(row: Row): Promise<mongo.Document> {
    const [found] = await this.complete([row]);
    if (found === undefined) throw new Error('The document no longer exists.');
    return found.value;
  }

  async json(row: Row): Promise<string> {
    return documentText(await this.wholeOf(row), 'relaxed');
  }

  asListed(row: Row): Opened {
    return { row, text: '', system: [], version: row.value };
  }

  async copyOf(row: Row): Promise<string | null> {
    const [found] = await this.complete([row]);
    if (found === undefined) return null;
    const { _id, ...rest } = found.value;
    return printShell(rest);
  }

  private row(document: Listed, expiry: Expiry, writtenMs: number): Row {
    const { _id } = briefOf(document);
    const key = keyOf(_id);
    // A getter, so that a large document is decoded only on access.
    const value = { get: () => document.value, enumerable: true };
    const { brief, isCut = false } = document;
    const row = { key, name: key, brief, isCut, expiry, ref: _id, writtenMs };
    return Object.defineProperty(row, 'value', value) as Row;
  }

  /** There are no change streams: polls the time of the last write of the first listed rows. */
  async news(_: unknown, rows: readonly Row[], signal: AbortSignal): Promise<News> {
    const { database, collection } = this.target;
    const some = rows.slice(0, IDS);
    const ids = some.map(({ ref }) => ref);
    const options = { signal, aside: true };
    const facts = ids.length === 0 ? [] : await mongo.expiryOf(database, collection, ids, options);
    // Documents of a view are computed anew for each query, so no change is reported.
    if (facts === null) return { mark: null, changed: [], gone: [], others: [] };
    const written = new Map(facts.map((fact) => [keyOf(fact.id), fact.writtenMs]));
    const changed = some.filter(
      ({ key, writtenMs }) => written.has(key) && written.get(key) !== writtenMs,
    );
    const gone = some.filter(({ key }) => !written.has(key));
    const keys = (found: readonly Row[]) => found.map(({ key }) => key);
    return { mark: null, changed: keys(changed), gone: keys(gone), others: [] };
  }

  /** Returns the rows of those documents that are live. */
  private async rows(documents: readonly Listed[], signal?: AbortSignal): Promise<Row[]> {
    const { database, collection } = this.target;
    const found: Row[] = [];
    for (let at = 0; at < documents.length; at += IDS) {
      const some = documents.slice(at, at + IDS);
      const ids = some.map((document) => briefOf(document)._id);
      const facts = await mongo.expiryOf(database, collection, ids, { signal });
      if (facts === null) {
        found.push(...some.map((document) => this.row(document, UNKNOWN_EXPIRY, 0)));
        continue;
      }
      const known = new Map(facts.map((fact) => [keyOf(fact.id), fact]));
      for (const document of some) {
        const fact = known.get(keyOf(briefOf(document)._id));
        if (fact !== undefined) found.push(this.rowOfFact(document, fact));
      }
    }
    return found;
  }

  whyNotSorted(filter: string, { column, direction }: Sort): string | null {
    if (column === EXPIRES) return whyNotByExpiry(filter, direction);
    return partsOfPath(column).some((part) => /[.$]/.test(part))
      ? 'MongoDB does not sort by names with a dot or a dollar sign'
      : null;
  }

  async readIndexes(): Promise<(parts: readonly string[]) => string | null> {
    const { database, collection } = this.target;
    const indexes = await mongo.listIndexes(database, collection);
    const whole = indexes.filter(
      ({ all }) =>
        all.partialFilterExpression === undefined && all.sparse !== true && all.hidden !== true,
    );
    return (parts) => {
      const path = parts.join('.');
      const serves = ({ key }: mongo.IndexRecord) => {
        const [first, direction] = Object.entries(key)[0] ?? [];
        return first === path && Math.abs(Number(direction)) === 1;
      };
      return whole.find(serves)?.name ?? null;
    };
  }

  /** Loads the documents that expire, in the order of their deadlines. */
  private async byExpiry(
    after: string | null,
    size: number,
    signal: AbortSignal,
  ): Promise<RowsPage> {
    const { database, collection } = this.target;
    const { expiries, after: next } = await mongo.nextToExpire(
      database,
      collection,
      { size: Math.min(size, IDS), after },
      { signal },
    );
    const filter = { _id: { $in: expiries.map(({ id }) => id) } };
    const command = { aggregate: collection, pipeline: [{ $match: filter }, CUTTING], cursor: {} };
    const found = await mongo.allRaw(database, command, collection, { signal });
    const documents = new Map(
      found.map((bytes) => {
        const document = listedCut(bytes);
        return [keyOf(briefOf(document)._id), document];
      }),
    );
    const rows = expiries.flatMap((fact) => {
      // A document may expire between the two responses.
      const document = documents.get(keyOf(fact.id));
      return document === undefined ? [] : [this.rowOfFact(document, fact)];
    });
    return { rows, cursor: next === null ? null : { next: { after: next } } };
  }

  private rowOfFact(document: Listed, fact: mongo.DocumentExpiry): Row {
    const meaning = meaningOfBson(briefOf(document).ttl);
    return this.row(document, expiryOfDocument(meaning, fact, this.defaultTtl), fact.writtenMs);
  }

  async load(
    ask: LoadAsk,
    cursor: Cursor | null,
    size: number,
    signal: AbortSignal,
  ): Promise<RowsPage> {
    if (ask.sort?.column === EXPIRES) {
      const after = cursor === null ? null : (cursor.next as { after: string }).after;
      return this.byExpiry(after, size, signal);
    }
    const next = cursor === null ? null : (cursor.next as Next);
    const batch = await this.batch(ask, next, size, signal);
    try {
      const documents = batch.documents.map(ask.whole === true ? listed : listedCut);
      const rows = await this.rows(documents);
      if (batch.cursor === null) return { rows, cursor: null };
      const ended = documents.at(-1);
      const last = ended === undefined ? next?.last : briefOf(ended)._id;
      const read = (next?.read ?? 0) + batch.documents.length;
      return { rows, cursor: { next: { cursor: batch.cursor, last, read } } };
    } catch (error) {
      void mongo.close(batch.cursor);
      throw error;
    }
  }

  counts(): boolean {
    return true;
  }

  async count(filter: string, signal: AbortSignal): Promise<number> {
    const { database, collection } = this.target;
    const reply = await mongo.run(
      database,
      { count: collection, query: filterOf(filter) },
      { signal },
    );
    return mongo.numberOf(reply.n);
  }

  release(cursor: Cursor): void {
    const next = cursor.next as Next | { after: string };
    // A list by expiry has no cursor on the server.
    if ('after' in next) return;
    void mongo.close(next.cursor);
    next.cursor = null;
  }

  /** Returns the command that opens a list. */
  private listing(
    filter: mongo.Document,
    { sort, skip }: { sort: mongo.Document; skip: number },
    size: number,
    whole: boolean,
  ): mongo.Document {
    const { collection } = this.target;
    if (whole) return { find: collection, filter, sort, skip, batchSize: size };
    const skipped = skip === 0 ? [] : [{ $skip: skip }];
    const pipeline = [{ $match: filter }, { $sort: sort }, ...skipped, CUTTING];
    return { aggregate: collection, pipeline, cursor: { batchSize: size } };
  }

  private async batch(
    { filter, sort, whole = false }: LoadAsk,
    next: Next | null,
    size: number,
    signal: AbortSignal,
  ): Promise<mongo.Batch<Uint8Array>> {
    const { database, collection } = this.target;
    const asked = filterOf(filter);
    if (next !== null && next.cursor !== null) {
      const { cursor } = next;
      // The cursor advances even if the response is lost.
      next.cursor = null;
      try {
        return await mongo.moreRaw(database, collection, cursor, size, { signal });
      } catch (error) {
        if (!isNumber(error, CURSOR_NOT_FOUND)) throw error;
      }
    }
    if (sort !== null && sort.column !== '_id') {
      const path = partsOfPath(sort.column).join('.');
      const order = { sort: { [path]: sort.direction }, skip: next?.read ?? 0 };
      return mongo.openRaw(database, this.listing(asked, order, size, whole), { signal });
    }
    const direction = sort?.direction ?? 1;
    // `$gt` outside `$expr` compares only values of one type.
    const than = direction > 0 ? '$gt' : '$lt';
    const after = { $expr: { [than]: ['$_id', { $literal: next?.last }] } };
    const wanted = next === null ? asked : { $and: [asked, after] };
    const order = { sort: { _id: direction }, skip: 0 };
    return mongo.openRaw(database, this.listing(wanted, order, size, whole), { signal });
  }

  rowOf(key: string): Row | null {
    const parsed = parseShell(key);
    if ('error' in parsed) return null;
    return { key, name: key, value: {}, expiry: UNKNOWN_EXPIRY, ref: parsed.value };
  }

  private async opened(document: mongo.Document, signal?: AbortSignal): Promise<Opened | null> {
    const [row] = await this.rows([{ value: document, brief: null }], signal);
    if (row === undefined) return null;
    return { row, text: printShell(document), system: [], version: document };
  }

  private async find(id: unknown, options?: mongo.CommandOptions): Promise<mongo.Document | null> {
    const { database, collection } = this.target;
    const command = { find: collection, filter: { _id: { $eq: id } }, limit: 1 };
    const { documents } = await mongo.open(database, command, options);
    return documents[0] ?? null;
  }

  private async openId(id: unknown, signal?: AbortSignal): Promise<Opened | null> {
    const document = await this.find(id, { signal });
    return document === null ? null : this.opened(document, signal);
  }

  open(row: Row): Promise<Opened | null> {
    return this.openId(row.ref);
  }

  withText(opened: Opened, text: string): Opened {
    const parsed = parseShell(text);
    if ('error' in parsed) throw new Error(parsed.error);
    return { ...opened, text, version: parsed.value };
  }

  /**
   * Compares the time of the last write; two writes within one second are distinguished by the
   * text, unless it is too long to be polled.
   */
  async newer(opened: Opened, signal: AbortSignal): Promise<Newer> {
    const { database, collection } = this.target;
    const { ref, writtenMs } = opened.row;
    const options = { signal, aside: true };
    const facts = await mongo.expiryOf(database, collection, [ref], options);
    if (facts === null) return null;
    const [fact] = facts;
    const isWritten = fact?.writtenMs !== writtenMs;
    if (fact !== undefined && !isWritten && opened.text.length > READ_AGAIN) return null;
    const document = fact === undefined ? null : await this.find(ref, options);
    if (document !== null && !isWritten && printShell(document) === opened.text) return null;
    const theirs = document === null ? null : await this.opened(document);
    return theirs === null ? { gone: true } : { theirs };
  }

  check(text: string, opened: Opened | null): Check {
    const parsed = parseShell(text);
    const wrong = (message: string, at: number): Check => ({
      error: { message, at },
      outlook: null,
      other: null,
    });
    if ('error' in parsed) return wrong(parsed.error, parsed.at);
    const { value } = parsed;
    if (!isDocument(value)) return wrong('A document must be an object.', 0);
    if (Object.hasOwn(value, '_ts'))
      return wrong('_ts is set by the server and cannot be written.', text.indexOf('_ts'));
    const foreseen = outlook(meaningOfBson(value.ttl), this.defaultTtl, false, this.perDocument);
    return { error: null, outlook: foreseen, other: opened === null ? null : other(value, opened) };
  }

  private document(text: string): mongo.Document {
    return documentOf(text, this.largest);
  }

  freshId(): ObjectId {
    return new ObjectId();
  }

  async create(text: string, fresh: unknown, signal?: AbortSignal): Promise<Opened | null> {
    const { database, collection } = this.target;
    const document = { _id: fresh, ...this.document(text) };
    await mongo.run(database, { insert: collection, documents: [document] }, { signal });
    return this.openId(document._id, signal);
  }

  async made(text: string, fresh: unknown, signal?: AbortSignal): Promise<Made | null> {
    const typed = this.document(text);
    const isOurs = !Object.hasOwn(typed, '_id');
    const item = await this.openId(isOurs ? fresh : typed._id, signal);
    return item === null ? null : { item, isOurs };
  }

  /** Updates the document if it is unchanged since it was read. */
  private changed(opened: Opened, u: unknown, signal?: AbortSignal): Promise<Changed> {
    return this.updated(opened, [{ q: unchanged(opened.version as mongo.Document), u }], signal);
  }

  /** Runs the updates; returns the current document if none matched. */
  private async updated(
    opened: Opened,
    updates: unknown[],
    signal?: AbortSignal,
  ): Promise<Changed> {
    const { database, collection } = this.target;
    const reply = await mongo.run(database, { update: collection, updates }, { signal });
    const now = await this.openId(opened.row.ref, signal);
    if (now === null) return { gone: true };
    return mongo.numberOf(reply.n) === 0 ? { theirs: now } : { done: now };
  }

  replace(opened: Opened, text: string, signal?: AbortSignal): Promise<Changed> {
    return this.changed(opened, this.document(text), signal);
  }

  setTtl(opened: Opened, seconds: number, signal?: AbortSignal): Promise<Changed> {
    return this.changed(opened, { $set: { ttl: new Int32(seconds) } }, signal);
  }

  setField(opened: Opened, parts: readonly string[], value: unknown): Promise<Changed> {
    return this.changed(opened, { $set: { [parts.join('.')]: value } });
  }

  /**
   * A write without changes does not restart the countdown, so one request has two updates: the
   * first adds a field, the second removes it.
   */
  touch(opened: Opened, signal?: AbortSignal): Promise<Changed> {
    const mark = `__ebbTouched_${new ObjectId().toHexString()}`;
    const id = { $eq: opened.row.ref };
    const updates = [
      { q: unchanged(opened.version as mongo.Document), u: { $set: { [mark]: true } } },
      { q: { _id: id, [mark]: true }, u: { $unset: { [mark]: true } } },
    ];
    return this.updated(opened, updates, signal);
  }
}

/** Parses a filter; an empty text matches every document. */
export function filterOf(text: string): mongo.Document {
  if (text.trim() === '') return {};
  const parsed = parseShell(text);
  if ('error' in parsed) throw new Error(`At character ${parsed.at + 1}: ${parsed.error}`);
  if (!isDocument(parsed.value))
    throw new Error('A filter must be an object like { user: "ada" }.');
  return parsed.value;
}

function wrongFilter(text: string): string | null {
  try {
    filterOf(text);
    return null;
  } catch (error) {
    return words(error);
  }
}

/** Ids compare numerically across number types. */
function sameId(a: unknown, b: unknown): boolean {
  const number = (value: unknown) =>
    value instanceof Int32 || value instanceof Double ? value.value : undefined;
  const [left, right] = [number(a), number(b)];
  return left !== undefined ? left === right : keyOf(a) === keyOf(b);
}

function other(value: mongo.Document, opened: Opened): string | null {
  if (!Object.hasOwn(value, '_id') || sameId(value._id, opened.row.ref)) return null;
  return `The _id was changed. It is immutable, so saving creates a new document ${keyOf(value._id)} and leaves ${opened.row.name} unchanged.`;
}
