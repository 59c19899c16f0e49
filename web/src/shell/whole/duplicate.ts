// Creates a copy of a collection with its documents, batch by batch and with exact values. TTL
// settings are copied first, so that no document is ever without its TTL.
import { calculateObjectSize } from 'bson';
import { words } from '../../api/http';
import * as mongo from '../../api/mongo';
import * as nosql from '../../api/nosql';
import { documentPages, itemPages } from '../../pages/items/transfer/exportPages';
import { writeApart } from '../../pages/items/transfer/importRun';
import { MongoWriter } from '../../pages/items/transfer/mongoWriter';
import { NosqlWriter } from '../../pages/items/transfer/nosqlWriter';
import type { Entry, Writer } from '../../pages/items/transfer/writer';
import { withoutSystem } from '../../pages/settings/container/definition';
import { counted } from '../../pure/figures/amount';
import { readJson, without } from '../../pure/json/tree';
import { SYSTEM_FIELDS } from '../../pure/values/system';
import { toast, warn } from '../../state/log';
import type { Target } from '../../state/place';
import { naming, shown } from '../create/actions';
import { noun } from '../dialogs';
import { batches } from './batches';

/** Maximum size of one command; the server accepts more. */
const MOST_BYTES = 4 * 1024 * 1024;

interface Tally {
  copied: number;
  refused: number;
  why: string;
}

async function copy<T>(
  pages: AsyncIterable<readonly T[]>,
  writer: Writer<T>,
  most: { count: number; size: number },
  sizeOf: (value: T) => number,
  signal: AbortSignal,
  tally: Tally,
  onDone: (copied: number) => void,
): Promise<void> {
  for await (const page of pages) {
    for (const batch of batches(page, most, sizeOf)) {
      const entries: Entry<T>[] = batch.map((value, nth) => ({ nth, line: 0, value }));
      const written = await writeApart(writer, entries, signal);
      tally.copied += written.made;
      tally.refused += written.refused.length;
      tally.why ||= written.refused[0]?.why ?? '';
      onDone(tally.copied);
    }
  }
}

async function makeCollection({ database, collection }: Target, name: string): Promise<void> {
  const [found] = (await mongo.open(database, { listCollections: 1, filter: { name: collection } }))
    .documents;
  const options = (found?.options ?? {}) as mongo.Document;
  const indexes = (await mongo.listIndexes(database, collection))
    .filter((index) => index.name !== '_id_')
    .map(({ all: { ns: _, ...index } }) => index);
  await naming('name', mongo.run(database, { create: name, ...options }));
  if (indexes.length > 0) await mongo.run(database, { createIndexes: name, indexes });
}

async function copyDocuments(
  target: Target,
  to: Target,
  signal: AbortSignal,
  tally: Tally,
  onDone: (copied: number) => void,
): Promise<void> {
  const writer = new MongoWriter(to, 'refuse');
  const most = { count: writer.most.documents, size: MOST_BYTES };
  const pages = documentPages(target, { filter: '' }, signal);
  await copy(pages, writer, most, (value) => calculateObjectSize(value), signal, tally, onDone);
}

async function makeContainer(
  target: Target,
  record: nosql.ContainerRecord,
  name: string,
): Promise<void> {
  const offer = await nosql.findOffer(record._rid);
  const definition = { ...withoutSystem(record), id: name };
  await naming('name', nosql.createContainer(target.database, definition, offer?.content));
}

async function* itemsOf(target: Target, writer: NosqlWriter, signal: AbortSignal) {
  for await (const texts of itemPages(target, { filter: '' }, signal)) {
    yield texts.map((text) => {
      const read = readJson(text);
      if ('error' in read) throw new Error(`An item is not JSON: ${read.error}`);
      return writer.finish(without(read.root, SYSTEM_FIELDS));
    });
  }
}

async function copyItems(
  target: Target,
  record: nosql.ContainerRecord,
  to: Target,
  signal: AbortSignal,
  tally: Tally,
  onDone: (copied: number) => void,
): Promise<void> {
  const writer = new NosqlWriter(to, record, 'refuse');
  const most = { count: writer.most.documents, size: writer.most.characters };
  const pages = itemsOf(target, writer, signal);
  await copy(pages, writer, most, ({ text }) => text.length, signal, tally, onDone);
}

function say(to: Target, { copied, refused, why }: Tally, isStopped: boolean): void {
  const word = to.door === 'nosql' ? 'item' : 'document';
  const made = `${counted(copied, word)} in the new ${noun(to.door)} ${to.collection}`;
  const lost = refused === 0 ? '' : ` ${counted(refused, word)} could not be copied: ${why}`;
  if (isStopped) warn(`Stopped: ${made}.${lost}`);
  else if (refused > 0) warn(`Copied ${made}.${lost}`);
  else toast({ text: `Copied ${made}` });
}

/** Resolves when it is done or cancelled, and shows the copy. */
export async function duplicate(
  target: Target,
  name: string,
  signal: AbortSignal,
  onDone: (copied: number) => void,
): Promise<void> {
  const to: Target = { ...target, collection: name };
  const tally: Tally = { copied: 0, refused: 0, why: '' };
  const record =
    target.door === 'nosql' ? await nosql.readContainer(target.database, target.collection) : null;
  if (record === null) await makeCollection(target, name);
  else await makeContainer(target, record, name);
  try {
    if (record === null) await copyDocuments(target, to, signal, tally, onDone);
    else await copyItems(target, record, to, signal, tally, onDone);
  } catch (error) {
    if (!signal.aborted) warn(`Copying ${target.collection} failed: ${words(error)}`);
  }
  say(to, tally, signal.aborted);
  await shown(to);
}
