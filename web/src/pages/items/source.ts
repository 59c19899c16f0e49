// The interface of an API for grid and editor, implemented by `nosqlSource` and `mongoSource`; this
// module does no I/O.
import type { Default, Expiry, Outlook } from '../../pure/ttl/reasons';
import type { Api } from '../../pure/values/compare';
import type { Many } from './many/many';
import type { Sort } from './sort';
import type { Template } from './template';

export const READ_ONLY = 'You are signed in with a read-only key.';

export interface Row {
  /** Unique key of the item within the collection. */
  key: string;
  /** Name for display. */
  name: string;
  value: Readonly<Record<string, unknown>>;
  /** The start of each field of a large item, for the list; null or absent: the item is small. */
  brief?: Readonly<Record<string, unknown>> | null;
  /** Whether `value` has only the start of each field; `complete` reads the rest. */
  isCut?: boolean;
  expiry: Expiry;
  /** Reference by which the source finds it again. */
  ref: unknown;
  /** Time of its last write in ms, to the second, if the server reports it outside the item. */
  writtenMs?: number;
}

/** Returns what the list shows of a row: of a small item, everything. */
export function shownOf(row: Row): Readonly<Record<string, unknown>> {
  // Do not destructure: it would decode a large item.
  return row.brief ?? row.value;
}

/** Returns why the server does not sort a list by expiry; null: it does, ascending. */
export function whyNotByExpiry(filter: string, direction: Sort['direction']): string | null {
  if (direction < 0) return 'the server sorts by expiry in ascending order only';
  return filter.trim() === '' ? null : 'the server sorts by expiry only without a filter';
}

/** Expiry of a row that has not been read. */
export const UNKNOWN_EXPIRY: Expiry = { expiresAtMs: null, by: null, reason: null };

/** Opaque position of the next rows. */
export type Cursor = { next: unknown };

export interface RowsPage {
  rows: Row[];
  /** null: these were the last. */
  cursor: Cursor | null;
}

/** An item as read, ready for editing. */
export interface Opened {
  row: Row;
  text: string;
  /** Fields set by the server, shown beside the text. */
  system: readonly [name: string, value: string][];
  /** Version for conditional changes. */
  version: unknown;
}

/** Outcome of a conditional change. */
export type Changed = { done: Opened } | { theirs: Opened } | { gone: true };

/** State of an item compared with the read version; null: unchanged. */
export type Newer = { theirs: Opened } | { gone: true } | null;

/** Messages about a text while it is edited. */
export interface Check {
  error: { message: string; at: number } | null;
  outlook: Outlook | null;
  /** Set if the text has the id or key of another item. */
  other: string | null;
}

/** Filter and order of a list; sort null: the server's order. */
export interface LoadAsk {
  filter: string;
  sort: Sort | null;
  /** Whether large values are loaded whole; otherwise the server may cut them. */
  whole?: boolean;
}

/** Changes by others since a mark. */
export interface News {
  /** Opaque mark for the next call. */
  mark: unknown;
  /** Keys of listed rows that were written. */
  changed: string[];
  /** Keys of listed rows that were deleted or expired. */
  gone: string[];
  /** Keys of unlisted items that were written; empty if the API does not report them. */
  others: string[];
}

export interface Made {
  item: Opened;
  /** Whether its id was generated here, so that no other client can have created it. */
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
  /** Text of a new item; with this id if clients choose ids. */
  template(id: string): Template;
  largest: { bytes: number; words: string };
  /** The fixed text around the filter, and an example. */
  filterHint: string;
  filterExample: string;
  /** Returns a local syntax error of a filter; null: the server decides. */
  wrongFilter(filter: string): string | null;
  defaultTtl: Default;
  perDocument: boolean;
  /** Returns the text of a cell. */
  shown(value: unknown): string;
  /** Returns the full value in the API's notation. */
  whole(value: unknown): string;
  /** Returns the rows that still exist, with whole values. */
  complete(rows: readonly Row[], signal?: AbortSignal): Promise<readonly Row[]>;
  /** Returns a row as one line of JSON with exact types. */
  json(row: Row): Promise<string>;
  /** Returns a listed row as the version for a conditional change. */
  asListed(row: Row): Opened;
  /** Returns the text of a copy of an item with another id. */
  copyOf(row: Row, id: string): Promise<string | null>;
  /** Loads a page. After a failure the same cursor can be used again without gaps. */
  load(ask: LoadAsk, cursor: Cursor | null, size: number, signal: AbortSignal): Promise<RowsPage>;
  /** Returns why the server cannot sort a list in this way; null: it can. */
  whyNotSorted(filter: string, sort: Sort): string | null;
  /** Returns a function that names the index for an order by a field; null: none. */
  readIndexes(): Promise<(parts: readonly string[]) => string | null>;
  /** Polls changes by others in the background; mark null: starts now. */
  news(mark: unknown, rows: readonly Row[], signal: AbortSignal): Promise<News>;
  /** Releases the server's resources of an unused cursor. */
  release(cursor: Cursor): void;
  /** Returns whether the matches of a filter can be counted. */
  counts(filter: string): boolean;
  count(filter: string, signal: AbortSignal): Promise<number>;
  /** Returns a row with only a key, to be opened; null: the key is invalid. */
  rowOf(key: string): Row | null;
  /** Reads an item; null: it does not exist (any more). */
  open(row: Row): Promise<Opened | null>;
  /** Returns the item as if read with another text: conditional changes of it always fail. */
  withText(opened: Opened, text: string): Opened;
  /** Checks in the background for a newer version of an item. */
  newer(opened: Opened, signal: AbortSignal): Promise<Newer>;
  check(text: string, opened: Opened | null): Check;
  /** Returns the id for new items whose text has none, reused on retries; null: unnecessary. */
  freshId(): unknown;
  /** Creates an item; null: it was created and has already expired. */
  create(text: string, fresh: unknown, signal?: AbortSignal): Promise<Opened | null>;
  /** Returns the item that a creation without response may have stored; null: none. */
  made(text: string, fresh: unknown, signal?: AbortSignal): Promise<Made | null>;
  replace(opened: Opened, text: string, signal?: AbortSignal): Promise<Changed>;
  setTtl(opened: Opened, seconds: number, signal?: AbortSignal): Promise<Changed>;
  touch(opened: Opened, signal?: AbortSignal): Promise<Changed>;
  /** Sets one field to a value of the API's types. */
  setField(opened: Opened, parts: readonly string[], value: unknown): Promise<Changed>;
}
