// Items of a container of the NoSQL API. Texts are sent as typed.
import { nextToExpire } from '../../api/admin';
import { changesSince } from '../../api/changeFeed';
import { ApiError } from '../../api/http';
import * as nosql from '../../api/nosql';
import { EXPIRES } from '../../pure/columns/columns';
import { isIncluded, type Policy } from '../../pure/explain/policy';
import { itemText } from '../../pure/exporting/item';
import { entryOf, type JsonNode, printJson, readJson, without } from '../../pure/json/tree';
import { type Expiry, expiryOfItem, meaningOfJson, outlook } from '../../pure/ttl/reasons';
import { cut } from '../../pure/values/cut';
import { partsOfPath } from '../../pure/values/path';
import { sqlPath } from '../../pure/values/sqlPath';
import type { Target } from '../../state/place';
import { countQuery, unordered } from './countQuery';
import { partsOf, pointerOf, valueAt } from './keyPath';
import { NosqlMany } from './many/nosqlMany';
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
import { itemTemplate, type Template } from './template';

const SYSTEM = ['_rid', '_self', '_etag', '_attachments', '_ts'] as const;
const SYSTEM_SET: ReadonlySet<string> = new Set(SYSTEM);

/** Number of concurrent requests for whole items. */
const TOGETHER = 8;

interface Ref {
  id: string;
  partition: readonly unknown[];
}

/** Identifies an item in a list by expiry. */
const placeOf = (id: unknown, at: number | null) => JSON.stringify([id, at]);

const refOf = (row: Row) => row.ref as Ref;

function isStatus(error: unknown, status: number): boolean {
  return error instanceof ApiError && error.status === status;
}

export class NosqlSource implements Source {
  readonly api = 'nosql';
  readonly noun = 'item';
  readonly idField = 'id';
  readonly language = 'json';
  readonly largest = { bytes: 2 * 1024 * 1024, words: '2 MB' };
  readonly filterHint = 'SELECT * FROM c';
  readonly wrongFilter = () => null;
  readonly filterExample = 'WHERE c.user = "ada" ORDER BY c._ts DESC';
  readonly perDocument = true;
  readonly defaultTtl: number | null;
  private readonly at: nosql.Place;
  private readonly paths: readonly string[];
  readonly keys: readonly string[];
  readonly many: NosqlMany;
  private readonly policy: Record<string, unknown> | undefined;

  constructor(
    private readonly target: Target,
    container: nosql.ContainerRecord,
  ) {
    this.at = { database: target.database, container: target.collection };
    this.paths = container.partitionKey.paths;
    this.policy = container.indexingPolicy;
    this.many = new NosqlMany(this.at, {
      rowOf: (text) => this.opened(text).row,
      complete: (rows, signal) => this.complete(rows, signal),
    });
    this.keys = this.paths.map((path) => `/${partsOf(path).join('/')}`);
    this.defaultTtl = container.defaultTtl ?? null;
  }

  template(id: string): Template {
    return itemTemplate(this.paths, id);
  }

  shown(value: unknown): string {
    const start = cut(value);
    return (typeof start === 'string' ? start : this.whole(start)).slice(0, 200);
  }

  whole(value: unknown): string {
    return JSON.stringify(value) ?? '';
  }

  async complete(rows: readonly Row[], signal?: AbortSignal): Promise<readonly Row[]> {
    const waiting = rows.filter(({ isCut }) => isCut === true);
    if (waiting.length === 0) return rows;
    const whole = new Map<string, Row>();
    const lane = async () => {
      for (let row = waiting.shift(); row !== undefined; row = waiting.shift()) {
        const found = await this.wholeOf(row, signal);
        if (found !== null) whole.set(row.key, found);
      }
    };
    await Promise.all(Array.from({ length: TOGETHER }, lane));
    return rows.flatMap((row) => (row.isCut === true ? (whole.get(row.key) ?? []) : [row]));
  }

  private async wholeOf(row: Row, signal?: AbortSignal): Promise<Row | null> {
    const { id, partition } = refOf(row);
    try {
      const { text } = await nosql.readItem(this.at, id, partition, signal);
      return this.row(JSON.parse(text) as nosql.Item);
    } catch (error) {
      if (isStatus(error, 404)) return null;
      throw error;
    }
  }

  async json(row: Row): Promise<string> {
    const { id, partition } = refOf(row);
    return itemText((await nosql.readItem(this.at, id, partition)).text, false);
  }

  asListed(row: Row): Opened {
    return { row, text: '', system: [], version: row.value._etag };
  }

  async copyOf(row: Row, id: string): Promise<string | null> {
    const opened = await this.open(row);
    if (opened === null) return null;
    const read = readJson(opened.text);
    if ('error' in read || read.root.kind !== 'object') return null;
    const named: JsonNode = { kind: 'plain', at: 0, text: JSON.stringify(id) };
    const entries = read.root.entries.map((entry) =>
      entry.key === 'id' ? { ...entry, value: named } : entry,
    );
    return printJson({ ...read.root, entries });
  }

  private rows({ rows, cut }: nosql.Page<nosql.Item>): Row[] {
    const isCut = new Set(cut);
    return rows.map((value, at) => this.row(value, isCut.has(at)));
  }

  private row(value: nosql.Item, isCut = false): Row {
    const ref: Ref = {
      id: value.id,
      partition: this.paths.map((path) => valueAt(value, partsOf(path))),
    };
    return { key: keyOf(ref), name: value.id, value, isCut, expiry: this.expiry(value), ref };
  }

  private expiry(value: nosql.Item): Expiry {
    const text = value.ttl === undefined ? null : JSON.stringify(value.ttl);
    return expiryOfItem(meaningOfJson(text), value._ts, this.defaultTtl);
  }

  whyNotSorted(filter: string, { column, direction }: Sort): string | null {
    if (column === EXPIRES) return whyNotByExpiry(filter, direction);
    return unordered(filter)?.length === filter.length
      ? null
      : 'the filter has its own ORDER BY or limit';
  }

  readIndexes(): Promise<(parts: readonly string[]) => string | null> {
    const policy = (this.policy ?? {}) as Policy;
    return Promise.resolve((parts) => (isIncluded(policy, parts) ? `/${parts.join('/')}/?` : null));
  }

  /** Loads the items that expire next, in this order; items that never expire are omitted. */
  private async byExpiry(
    after: string | null,
    size: number,
    signal: AbortSignal,
  ): Promise<RowsPage> {
    const next = await nextToExpire(this.target, size, after, signal);
    const parameters = [{ name: '@ids', value: next.items.map(({ id }) => id) }];
    const text = 'SELECT * FROM c WHERE ARRAY_CONTAINS(@ids, c.id)';
    const found = new Map<string, Row[]>();
    let continuation: string | null = null;
    do {
      const options = { parameters, continuation, maxItems: size, mayCut: true, signal };
      const page: nosql.Page<nosql.Item> = await nosql.query(this.at, text, options);
      for (const row of this.rows(page)) {
        // Items in different partitions may have equal ids.
        const key = placeOf(row.value.id, row.expiry.expiresAtMs);
        found.set(key, [...(found.get(key) ?? []), row]);
      }
      continuation = page.continuation;
    } while (continuation !== null);
    // An item may expire or change between the two responses.
    const rows = next.items.flatMap(
      ({ id, expires_at_ms: at }) => found.get(placeOf(id, at))?.splice(0, 1) ?? [],
    );
    return { rows, cursor: next.after === null ? null : { next: next.after } };
  }

  async load(
    { filter, sort, whole = false }: LoadAsk,
    cursor: Cursor | null,
    size: number,
    signal: AbortSignal,
  ): Promise<RowsPage> {
    if (sort?.column === EXPIRES)
      return this.byExpiry(cursor === null ? null : (cursor.next as string), size, signal);
    const continuation = cursor === null ? null : (cursor.next as string);
    const names = sort === null ? [] : partsOfPath(sort.column);
    const order =
      sort === null ? '' : ` ORDER BY c${sqlPath(names)} ${sort.direction < 0 ? 'DESC' : 'ASC'}`;
    const text = `${this.filterHint} ${filter}${order}`;
    const options = { continuation, maxItems: size, mayCut: !whole, signal };
    const page = await nosql.query(this.at, text, options);
    const rows = this.rows(page);
    return { rows, cursor: page.continuation === null ? null : { next: page.continuation } };
  }

  async news(mark: unknown, rows: readonly Row[], signal: AbortSignal): Promise<News> {
    const page = await changesSince(this.at, mark as string | null, signal);
    const listed = new Map(page.items.length === 0 ? [] : rows.map((row) => [row.key, row]));
    const written = page.items.map((item) => ({ item, key: this.row(item).key }));
    const changed = written.filter(
      ({ item, key }) => listed.has(key) && listed.get(key)?.value._etag !== item._etag,
    );
    const others = written.filter(({ key }) => !listed.has(key));
    const keys = (found: typeof written) => found.map(({ key }) => key);
    return { mark: page.etag, changed: keys(changed), gone: [], others: keys(others) };
  }

  counts(filter: string): boolean {
    return countQuery(filter) !== null;
  }

  async count(filter: string, signal: AbortSignal): Promise<number> {
    const text = countQuery(filter) ?? '';
    const page = await nosql.query<number>(this.at, text, { signal });
    return page.rows.reduce((sum, part) => sum + part, 0);
  }

  /** Nothing to release: a continuation token is self-contained. */
  release(): void {}

  rowOf(key: string): Row | null {
    const ref = refOfKey(key, this.paths.length);
    return ref === null ? null : { key, name: ref.id, value: {}, expiry: UNKNOWN_EXPIRY, ref };
  }

  private opened({ text, etag }: nosql.ItemText): Opened {
    const read = readJson(text);
    if ('error' in read) throw new Error(`The server's response is not JSON: ${read.error}`);
    const value = JSON.parse(text) as nosql.Item;
    const system = SYSTEM.flatMap((name): [string, string][] => {
      const entry = entryOf(read.root, name);
      return entry === null ? [] : [[name, printJson(entry.value)]];
    });
    const ttl = entryOf(read.root, 'ttl');
    const meaning = meaningOfJson(ttl === null ? null : printJson(ttl.value));
    const row = { ...this.row(value), expiry: expiryOfItem(meaning, value._ts, this.defaultTtl) };
    return { row, system, version: etag, text: printJson(without(read.root, SYSTEM_SET)) };
  }

  async open(row: Row): Promise<Opened | null> {
    const { id, partition } = refOf(row);
    try {
      return this.opened(await nosql.readItem(this.at, id, partition));
    } catch (error) {
      if (isStatus(error, 404)) return null;
      throw error;
    }
  }

  withText(opened: Opened, text: string): Opened {
    // Matches no ETag of the server.
    return { ...opened, text, version: '"of another text"' };
  }

  async newer(opened: Opened, signal: AbortSignal): Promise<Newer> {
    const { id, partition } = refOf(opened.row);
    try {
      const known = opened.version as string;
      const read = await nosql.readItemUnless(this.at, id, partition, known, signal);
      return read === null ? null : { theirs: this.opened(read) };
    } catch (error) {
      if (isStatus(error, 404)) return { gone: true };
      throw error;
    }
  }

  check(text: string, opened: Opened | null): Check {
    const read = readJson(text);
    const wrong = (message: string, at: number): Check => ({
      error: { message, at },
      outlook: null,
      other: null,
    });
    if ('error' in read) return wrong(read.error, read.at);
    const { root } = read;
    if (root.kind !== 'object') return wrong('An item must be an object.', root.at);
    const id = entryOf(root, 'id');
    if (id === null) return wrong('An item needs an "id".', root.at);
    if (id.value.kind !== 'plain' || !id.value.text.startsWith('"')) {
      return wrong('The "id" must be a string.', id.value.at);
    }
    const ttl = entryOf(root, 'ttl');
    const meaning = meaningOfJson(ttl === null ? null : printJson(ttl.value));
    const foreseen = outlook(meaning, this.defaultTtl, true, true);
    if (foreseen.refused !== null && ttl !== null) return wrong(foreseen.refused, ttl.at);
    return {
      error: null,
      outlook: foreseen,
      other: opened === null ? null : this.other(root, opened),
    };
  }

  private other(root: JsonNode, opened: Opened): string | null {
    const ref = this.refOfText(root);
    if (keyOf(ref) === opened.row.key) return null;
    const what = ref.id === refOf(opened.row).id ? 'The partition key' : 'The id';
    return `${what} was changed. It is immutable, so saving creates a new item "${ref.id}" and leaves "${opened.row.name}" unchanged.`;
  }

  private refOfText(root: JsonNode): Ref {
    const value = JSON.parse(printJson(root)) as nosql.Item;
    return { id: value.id, partition: this.paths.map((path) => valueAt(value, partsOf(path))) };
  }

  freshId(): null {
    return null;
  }

  private typedRef(text: string): Ref {
    const read = readJson(text);
    if ('error' in read) throw new Error(read.error);
    return this.refOfText(read.root);
  }

  async create(text: string, _fresh: unknown, signal?: AbortSignal): Promise<Opened> {
    const { partition } = this.typedRef(text);
    return this.opened(await nosql.createItem(this.at, text, partition, signal));
  }

  /** Ids are typed by the user, so anyone may have created the item. */
  async made(text: string): Promise<Made | null> {
    const row = this.rowOf(keyOf(this.typedRef(text)));
    const item = row === null ? null : await this.open(row);
    return item === null ? null : { item, isOurs: false };
  }

  /** Executes a conditional change; on conflict returns the current item. */
  private async changed(opened: Opened, change: () => Promise<nosql.ItemText>): Promise<Changed> {
    try {
      return { done: this.opened(await change()) };
    } catch (error) {
      if (!isStatus(error, 412) && !isStatus(error, 404)) throw error;
      const theirs = await this.open(opened.row);
      return theirs === null ? { gone: true } : { theirs };
    }
  }

  replace(opened: Opened, text: string, signal?: AbortSignal): Promise<Changed> {
    const { id, partition } = refOf(opened.row);
    return this.changed(opened, () =>
      nosql.replaceItem(this.at, id, text, partition, opened.version as string, signal),
    );
  }

  private patch(opened: Opened, operations: unknown[], signal?: AbortSignal): Promise<Changed> {
    const { id, partition } = refOf(opened.row);
    return this.changed(opened, () =>
      nosql.patchItem(this.at, id, operations, partition, opened.version as string, signal),
    );
  }

  setTtl(opened: Opened, seconds: number, signal?: AbortSignal): Promise<Changed> {
    return this.patch(opened, [{ op: 'set', path: '/ttl', value: seconds }], signal);
  }

  setField(opened: Opened, parts: readonly string[], value: unknown): Promise<Changed> {
    const path = pointerOf(parts);
    return this.patch(opened, [{ op: 'set', path, value }]);
  }

  /**
   * Adds and removes a field in one patch: a write without changes of the content, which works even
   * if the item has a `ttl` that a replace would refuse.
   */
  touch(opened: Opened, signal?: AbortSignal): Promise<Changed> {
    const path = '/__ebbTouched';
    const operations = [
      { op: 'add', path, value: true },
      { op: 'remove', path },
    ];
    return this.patch(opened, operations, signal);
  }
}

export function keyOf(ref: Ref): string {
  return JSON.stringify([ref.id, ...ref.partition.map((part) => (part === undefined ? {} : part))]);
}

/** Parses a key written by `keyOf`; null if it is another text. */
function refOfKey(key: string, parts: number): Ref | null {
  try {
    const [id, ...partition] = JSON.parse(key) as unknown[];
    if (typeof id !== 'string' || partition.length !== parts) return null;
    // An absent part is encoded as an object.
    return {
      id,
      partition: partition.map((part) =>
        typeof part === 'object' && part !== null ? undefined : part,
      ),
    };
  } catch {
    return null;
  }
}
