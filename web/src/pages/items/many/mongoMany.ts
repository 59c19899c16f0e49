// Bulk changes of documents, hundreds per command. Each change is conditional on the whole document
// as it was read.
import { calculateObjectSize, Int32, ObjectId } from 'bson';
import { words } from '../../../api/http';
import * as mongo from '../../../api/mongo';
import { documentText } from '../../../pure/exporting/extended';
import type { Target } from '../../../state/place';
import type { Row } from '../source';
import { type FieldChange, type Path, planned, takingBack } from './field/change';
import { type Act, add, failed, type Many, nothingDone, type Outcome, type Pair } from './many';

/** Total size of the documents in one command. */
const MOST_BYTES = 4 * 1024 * 1024;

interface Change {
  row: Row;
  to: mongo.Document;
  update: mongo.Document;
}

/** Matches a document only if it is unchanged as a whole. */
export function unchanged(document: mongo.Document): mongo.Document {
  return { _id: { $eq: document._id }, $expr: { $eq: ['$$ROOT', { $literal: document }] } };
}

const dotted = (path: Path) => path.join('.');

function updateOf(change: FieldChange): mongo.Document {
  const path = dotted(change.path);
  switch (change.does) {
    case 'set':
      return { $set: { [path]: change.value } };
    case 'remove':
      return { $unset: { [path]: '' } };
    case 'rename':
      return { $rename: { [path]: dotted(change.to) } };
  }
}

/** Seconds null: removes the ttl. */
function ttlChange(seconds: number | null): FieldChange {
  const path = ['ttl'];
  return seconds === null
    ? { does: 'remove', path }
    : { does: 'set', path, value: new Int32(seconds) };
}

/** Combines several changes of one document into one update; null: no effect. */
function changeOf(row: Row, changes: readonly FieldChange[]): Change | { error: string } | null {
  let to: Row['value'] = row.value;
  const update: mongo.Document = {};
  for (const change of changes) {
    const plan = planned(to, change);
    if ('error' in plan) return plan;
    if ('same' in plan) continue;
    to = plan.to;
    for (const [operator, fields] of Object.entries(updateOf(change)))
      update[operator] = { ...(update[operator] as object | undefined), ...(fields as object) };
  }
  return to === row.value ? null : { row, to, update };
}

function parts(changes: readonly Change[]): Change[][] {
  const found: Change[][] = [];
  let bytes = Infinity;
  for (const change of changes) {
    const size = calculateObjectSize(change.row.value);
    if (bytes + size > MOST_BYTES) {
      found.push([]);
      bytes = 0;
    }
    found.at(-1)?.push(change);
    bytes += size;
  }
  return found;
}

interface Reading {
  /** Returns the rows of those documents that are live. */
  rowsOf(documents: mongo.Document[]): Promise<Row[]>;
  /** Returns the rows that still exist, with whole values. */
  complete(rows: readonly Row[], signal: AbortSignal): Promise<readonly Row[]>;
}

export class MongoMany implements Many {
  readonly most = 500;

  constructor(
    private readonly target: Target,
    private readonly reading: Reading,
  ) {}

  private run(command: mongo.Document, signal: AbortSignal): Promise<mongo.Document> {
    return mongo.run(this.target.database, command, { signal, quiet: true });
  }

  /** Returns the current rows of these changes by key. */
  private async now(changes: readonly Change[]): Promise<Map<string, Row>> {
    const { database, collection } = this.target;
    const filter = { _id: { $in: changes.map(({ row }) => row.ref) } };
    const command = { find: collection, filter, batchSize: changes.length + 1 };
    const { documents, cursor } = await mongo.open(database, command, { quiet: true });
    if (cursor !== null) await mongo.close(cursor);
    return new Map((await this.reading.rowsOf(documents)).map((row) => [row.key, row]));
  }

  private async change(changes: readonly Change[], signal: AbortSignal): Promise<Outcome> {
    const { collection } = this.target;
    const updates = changes.map(({ row, update }) => ({ q: unchanged(row.value), u: update }));
    await this.run({ update: collection, updates, ordered: false }, signal);
    const now = await this.now(changes);
    const outcome = nothingDone();
    for (const { row, to } of changes) {
      const after = now.get(row.key);
      if (after === undefined) outcome.gone.push(row.key);
      else if (documentText(after.value, 'canonical') === documentText(to, 'canonical'))
        outcome.done.push({ before: row, after });
      else outcome.theirs.push(row.key);
    }
    return outcome;
  }

  /** In batches of one command each, until the signal is aborted. */
  private async all(
    wanted: readonly (readonly [Row, readonly FieldChange[]])[],
    signal: AbortSignal,
  ): Promise<Outcome> {
    const outcome = nothingDone();
    const changes: Change[] = [];
    let complete: readonly Row[];
    try {
      const rows = wanted.map(([row]) => row);
      complete = await this.reading.complete(rows, signal);
    } catch (error) {
      return signal.aborted ? outcome : failed(wanted.length, words(error));
    }
    const whole = new Map(complete.map((row) => [row.key, row] as const));
    for (const [{ key }, some] of wanted) {
      const row = whole.get(key);
      const change = row === undefined ? undefined : changeOf(row, some);
      if (row === undefined || change === undefined) outcome.gone.push(key);
      else if (change === null) outcome.same.push(row);
      else if ('error' in change) add(outcome, failed(1, change.error));
      else changes.push(change);
    }
    for (const part of parts(changes)) {
      if (signal.aborted) return outcome;
      add(outcome, await this.tried(part.length, () => this.change(part, signal), signal));
    }
    return outcome;
  }

  private async tried(
    count: number,
    work: () => Promise<Outcome>,
    signal: AbortSignal,
  ): Promise<Outcome> {
    try {
      return await work();
    } catch (error) {
      if (signal.aborted) return nothingDone();
      return failed(count, words(error));
    }
  }

  private async touch(rows: readonly Row[], signal: AbortSignal): Promise<Outcome> {
    // A write without changes does not restart the countdown, so a field is added and removed.
    const mark = `__ebbTouched_${new ObjectId().toHexString()}`;
    const _id = { $in: rows.map((row) => row.ref) };
    const updates = [
      { q: { _id }, u: { $set: { [mark]: true } }, multi: true },
      { q: { _id, [mark]: true }, u: { $unset: { [mark]: true } }, multi: true },
    ];
    await this.run({ update: this.target.collection, updates }, signal);
    return this.asTheyAre(rows);
  }

  private async asTheyAre(rows: readonly Row[]): Promise<Outcome> {
    const now = await this.now(rows.map((row) => ({ row, to: {}, update: {} })));
    const gone = rows.filter(({ key }) => !now.has(key)).map(({ key }) => key);
    const done = rows.flatMap((before) => {
      const after = now.get(before.key);
      return after === undefined ? [] : [{ before, after }];
    });
    return { ...nothingDone(), done, gone };
  }

  private async remove(rows: readonly Row[], signal: AbortSignal): Promise<Outcome> {
    const q = { _id: { $in: rows.map((row) => row.ref) } };
    await this.run({ delete: this.target.collection, deletes: [{ q, limit: 0 }] }, signal);
    return { ...nothingDone(), done: rows.map((before) => ({ before, after: null })) };
  }

  apply(rows: readonly Row[], act: Act, signal: AbortSignal): Promise<Outcome> {
    if (act.kind === 'delete')
      return this.tried(rows.length, () => this.remove(rows, signal), signal);
    if (act.kind === 'touch')
      return this.tried(rows.length, () => this.touch(rows, signal), signal);
    const change = act.kind === 'field' ? act.change : ttlChange(act.seconds);
    return this.all(
      rows.map((row) => [row, [change]] as const),
      signal,
    );
  }

  restore(pairs: readonly Pair[], paths: readonly Path[], signal: AbortSignal): Promise<Outcome> {
    const wanted = pairs.flatMap(({ before, after }) =>
      after === null ? [] : [[after, takingBack(before.value, paths)] as const],
    );
    return this.all(wanted, signal);
  }
}
