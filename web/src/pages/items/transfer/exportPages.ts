// Reads the documents to export page by page: matches of a filter, or selected rows. Values keep
// their types, and items their text. Writes nothing.

import { ApiError } from '../../../api/http';
import * as mongo from '../../../api/mongo';
import * as nosql from '../../../api/nosql';
import type { ItemText } from '../../../pure/importing/found';
import { entryOf, printCompact, readJson } from '../../../pure/json/tree';
import type { Target } from '../../../state/place';
import { filterOf } from '../mongoSource';
import type { Row } from '../source';

/** Matches of a filter, or selected rows. */
export type What = { filter: string } | { rows: readonly Row[] };

const PAGE = 1000;
const IDS = 500;
/** Number of concurrent reads of single items. */
const AT_ONCE = 8;

async function* found(
  target: Target,
  filter: mongo.Document,
  signal: AbortSignal,
): AsyncGenerator<mongo.Document[]> {
  const { database, collection } = target;
  const options = { signal, quiet: true };
  const command = { find: collection, filter, sort: { _id: 1 }, batchSize: PAGE };
  let batch = await mongo.open(database, command, options);
  try {
    yield batch.documents;
    while (batch.cursor !== null) {
      batch = await mongo.more(database, collection, batch.cursor, PAGE, options);
      yield batch.documents;
    }
  } finally {
    if (batch.cursor !== null) void mongo.close(batch.cursor);
  }
}

export async function* documentPages(
  target: Target,
  what: What,
  signal: AbortSignal,
): AsyncGenerator<mongo.Document[]> {
  if ('filter' in what) {
    yield* found(target, filterOf(what.filter), signal);
    return;
  }
  for (let at = 0; at < what.rows.length; at += IDS) {
    const ids = what.rows.slice(at, at + IDS).map(({ ref }) => ref);
    yield* found(target, { _id: { $in: ids } }, signal);
  }
}

/** Returns the items of a page, each as written. */
export function textsOf(page: string): ItemText[] {
  // Allow two more nesting levels: items are in an array within an object.
  const read = readJson(page, 2);
  if ('error' in read) throw new Error(`The server's response is not JSON: ${read.error}`);
  const items = entryOf(read.root, 'Documents')?.value;
  return items?.kind === 'array' ? items.elements.map(printCompact) : [];
}

async function chosenItems(at: nosql.Place, rows: readonly Row[]): Promise<ItemText[]> {
  const texts = await Promise.all(
    rows.map(async ({ ref }) => {
      const { id, partition } = ref as { id: string; partition: readonly unknown[] };
      try {
        return (await nosql.readItem(at, id, partition)).text;
      } catch (error) {
        // The item has expired or was deleted.
        if (error instanceof ApiError && error.status === 404) return null;
        throw error;
      }
    }),
  );
  return texts.filter((text) => text !== null);
}

export async function* itemPages(
  target: Target,
  what: What,
  signal: AbortSignal,
): AsyncGenerator<ItemText[]> {
  const at = { database: target.database, container: target.collection };
  if ('rows' in what) {
    for (let from = 0; from < what.rows.length; from += AT_ONCE) {
      signal.throwIfAborted();
      yield await chosenItems(at, what.rows.slice(from, from + AT_ONCE));
    }
    return;
  }
  const text = `SELECT * FROM c ${what.filter}`;
  let continuation: string | null = null;
  do {
    const page: nosql.Page<unknown> = await nosql.query(at, text, {
      continuation,
      maxItems: PAGE,
      signal,
    });
    yield textsOf(page.text);
    continuation = page.continuation;
  } while (continuation !== null);
}
