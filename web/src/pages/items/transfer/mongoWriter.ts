// Writes imported documents to a MongoDB collection in batches, with an outcome for each document.
import { ObjectId } from 'bson';
import * as mongo from '../../../api/mongo';
import { finishDocument } from '../../../pure/importing/finish';
import { printShell } from '../../../pure/shell';
import { isNumeric, kindOf } from '../../../pure/values/kind';
import type { Target } from '../../../state/place';
import {
  type Entry,
  nothingWritten,
  type OnExisting,
  refusal,
  takenWords,
  type Writer,
  type Written,
} from './writer';

type Documents = readonly Entry<mongo.Document>[];

const DUPLICATE = 11_000;

/** Returns whether an error is a duplicate key in the index on `_id`, whose name is fixed. */
function isTakenId({ code, errmsg, keyPattern }: mongo.Document): boolean {
  if (mongo.numberOf(code) !== DUPLICATE) return false;
  if (keyPattern !== undefined) return Object.hasOwn(keyPattern as object, '_id');
  return String(errmsg).includes('index: _id_ ');
}

export class MongoWriter implements Writer<mongo.Document> {
  /** BSON may be five times as long as the text, and a command is limited to 16 MB. */
  readonly most = { documents: 1000, characters: 2 * 1024 * 1024 };
  readonly finish = finishDocument;

  constructor(
    private readonly target: Target,
    private readonly onExisting: OnExisting,
  ) {}

  idOf(document: mongo.Document): string | null {
    if (!Object.hasOwn(document, '_id')) return null;
    const { _id } = document;
    // Ids compare numerically across number types.
    return isNumeric(kindOf(_id)) ? `number ${String(_id)}` : printShell(_id, 0);
  }

  async write(entries: Documents, signal: AbortSignal): Promise<Written> {
    if (this.onExisting !== 'replace') return this.insert(entries, signal);
    const named = entries.filter(({ value }) => Object.hasOwn(value, '_id'));
    const others = entries.filter(({ value }) => !Object.hasOwn(value, '_id'));
    const replaced = await this.replace(named, signal);
    if (others.length === 0) return replaced;
    const inserted = await this.insert(others, signal);
    return {
      ...replaced,
      made: replaced.made + inserted.made,
      refused: [...replaced.refused, ...inserted.refused],
    };
  }

  private async insert(entries: Documents, signal: AbortSignal): Promise<Written> {
    const documents = entries.map(({ value }) =>
      Object.hasOwn(value, '_id') ? value : { _id: new ObjectId(), ...value },
    );
    const command = { insert: this.target.collection, documents, ordered: false };
    const reply = await this.run(command, signal);
    const written = this.judged(entries, reply);
    return { ...written, made: mongo.numberOf(reply.n) };
  }

  private async replace(entries: Documents, signal: AbortSignal): Promise<Written> {
    if (entries.length === 0) return nothingWritten();
    const updates = entries.map(({ value }) => ({
      q: { _id: { $eq: value._id } },
      u: value,
      upsert: true,
    }));
    const command = { update: this.target.collection, updates, ordered: false };
    const reply = await this.run(command, signal);
    const made = ((reply.upserted ?? []) as unknown[]).length;
    const written = this.judged(entries, reply);
    return { ...written, made, replaced: mongo.numberOf(reply.n) - made };
  }

  private run(command: mongo.Document, signal: AbortSignal): Promise<mongo.Document> {
    return mongo.run(this.target.database, command, { signal, quiet: true, each: true });
  }

  private judged(entries: Documents, reply: mongo.Document): Written {
    const written = nothingWritten();
    for (const error of (reply.writeErrors ?? []) as mongo.Document[]) {
      const entry = entries[mongo.numberOf(error.index)];
      if (entry === undefined) continue;
      const isTaken = isTakenId(error);
      const why = isTaken ? takenWords(printShell(entry.value._id, 0)) : String(error.errmsg);
      if (isTaken && this.onExisting === 'skip') written.skipped += 1;
      else written.refused.push(refusal(entry, why));
    }
    return written;
  }
}
