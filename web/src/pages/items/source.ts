// What the grid and the editor need of a door. Each door has its own, `nosqlSource` and
// `mongoSource`; nothing here sends or shows anything.
import type { Default, Expiry, Outlook } from '../../pure/ttl/reasons';
import type { Api } from '../../pure/values/compare';
import type { Many } from './many/many';
import type { Sort } from './sort';
import type { Template } from './template';

export const READ_ONLY = 'You are signed in with a read-only key.';

export interface Row {
  /** Names the item among all of the collection. */
  key: string;
  /** What one calls it. */
  name: string;
  value: Readonly<Record<string, unknown>>;
  /** The beginning of each field of a large item, for the list; null or absent: the item is small. */
  brief?: Readonly<Record<string, unknown>> | null;
  expiry: Expiry;
  /** How the source finds it again. */
  ref: unknown;
  /** The second of its last write, ms, where the server tells it beside the item. */
  writtenMs?: number;
}

/** What the list shows of a row: all of a small item. */
export function shownOf(row: Row): Readonly<Record<string, unknown>> {
  // Not by taking the row apart, which would decode a large item.
  return row.brief ?? row.value;
}

/** Why a list is not sorted by expiry by the server; null: it is, the next to expire first. */
export function whyNotByExpiry(filter: string, direction: Sort['direction']): string | null {
  if (direction < 0) return 'the server lists what expires next, not what expires last';
  return filter.trim() === '' ? null : 'the server sorts by expiry only without a filter';
}

/** Of a row that has not been read. */
export const UNKNOWN_EXPIRY: Expiry = { expiresAtMs: null, by: null, reason: null };

/** Where the next rows are; opaque. */
export type Cursor = { next: unknown };

export interface RowsPage {
  rows: Row[];
  /** null: these were the last. */
  cursor: Cursor | null;
}

/** An item as it was read, ready to be edited. */
export interface Opened {
  row: Row;
  text: string;
  /** What the server sets, shown beside the text. */
  system: readonly [name: string, value: string][];
  /** What a change is conditional on. */
  version: unknown;
}

/** What a change came to. */
export type Changed = { done: Opened } | { theirs: Opened } | { gone: true };

/** What has become of an item since it was read; null: it is the same. */
export type Newer = { theirs: Opened } | { gone: true } | null;

/** What is to be said of a text while it is typed. */
export interface Check {
  error: { message: string; at: number } | null;
  outlook: Outlook | null;
  /** The text is about another item than the one that is open. */
  other: string | null;
}

/** What is listed, and in which order; null: the server's own. */
export interface LoadAsk {
  filter: string;
  sort: Sort | null;
}

/** What others have done since a mark. */
export interface News {
  /** Where the next question begins; opaque. */
  mark: unknown;
  /** Keys of listed rows that were written. */
  changed: string[];
  /** Keys of listed rows that are not there any more. */
  gone: string[];
  /** Keys of items that are not listed; empty where the API does not tell. */
  others: string[];
}

export interface Made {
  item: Opened;
  /** It has an id that nobody else can have given. */
  isOurs: boolean;
}

export interface Source {
  api: Api;
  noun: 'item' | 'document';
  idField: 'id' | '_id';
  /** Paths of the partition key, `/tenant/id`. */
  keys: readonly string[];
  many: Many;
  language: 'json' | 'shell';
  /** The text of a new item with this id, where ids are the client's to choose. */
  template(id: string): Template;
  largest: { bytes: number; words: string };
  /** What stands around the filter, and an example. */
  filterHint: string;
  filterExample: string;
  /** Why a filter can be none, as far as that is known here; null: the server decides. */
  wrongFilter(filter: string): string | null;
  defaultTtl: Default;
  perDocument: boolean;
  /** What a cell shows of a value. */
  shown(value: unknown): string;
  /** All of it, in the API's own notation. */
  whole(value: unknown): string;
  /** A row as one line of JSON, every value of its type. */
  json(row: Row): Promise<string>;
  /** A row as it was listed, as what a change is conditional on. */
  asListed(row: Row): Opened;
  /** The text of a new item that has all of another one but its id. */
  copyOf(row: Row, id: string): Promise<string | null>;
  /** After a failure the same cursor may be asked again, and leaves out nothing. */
  load(ask: LoadAsk, cursor: Cursor | null, size: number, signal: AbortSignal): Promise<RowsPage>;
  /** Why the server cannot sort a list like this; null: it can. */
  whyNotSorted(filter: string, sort: Sort): string | null;
  /** What says which index serves an order by the field with these names; null: none does. */
  readIndexes(): Promise<(parts: readonly string[]) => string | null>;
  /** Asks what others have done since; a mark of null begins now. Says nothing of its failure. */
  news(mark: unknown, rows: readonly Row[], signal: AbortSignal): Promise<News>;
  /** Gives up what the server holds for a cursor that is not asked any more. */
  release(cursor: Cursor): void;
  /** Whether what fits a filter can be counted. */
  counts(filter: string): boolean;
  /** How many fit a filter. */
  count(filter: string, signal: AbortSignal): Promise<number>;
  /** A row of which only the key is known, to be opened; null: it is no key. */
  rowOf(key: string): Row | null;
  /** null: it is not there (any more). */
  open(row: Row): Promise<Opened | null>;
  /** The same item when it was read with another text: nothing that is conditional on it is done. */
  withText(opened: Opened, text: string): Opened;
  /** Asks what has become of an item since. Says nothing of its failure. */
  newer(opened: Opened, signal: AbortSignal): Promise<Newer>;
  check(text: string, opened: Opened | null): Check;
  /** The id of a new item whose text has none, until an answer came to its creation; null: they always have. */
  freshId(): unknown;
  /** null: it was made and has died already. */
  create(text: string, fresh: unknown, signal?: AbortSignal): Promise<Opened | null>;
  /** What stands where a creation to which no answer came would have put it; null: nothing does. */
  made(text: string, fresh: unknown, signal?: AbortSignal): Promise<Made | null>;
  replace(opened: Opened, text: string, signal?: AbortSignal): Promise<Changed>;
  setTtl(opened: Opened, seconds: number, signal?: AbortSignal): Promise<Changed>;
  touch(opened: Opened, signal?: AbortSignal): Promise<Changed>;
  /** Sets one field to a value of its API. */
  setField(opened: Opened, parts: readonly string[], value: unknown): Promise<Changed>;
}
