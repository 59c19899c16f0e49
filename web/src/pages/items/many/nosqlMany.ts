// Bulk changes of a container's items, with several concurrent requests.
import { ApiError, words } from '../../../api/http';
import type { ItemText, PartitionKey, Place } from '../../../api/nosql';
import { type About, deleteOne, patchOne } from '../../../api/nosqlMany';
import { valueAtPath } from '../../../pure/values/path';
import { pointerOf } from '../keyPath';
import type { Row } from '../source';
import {
  type FieldChange,
  isInexact,
  missingPart,
  nested,
  type Path,
  planned,
  takingBack,
} from './field/change';
import { type Act, add, failed, type Many, nothingDone, type Outcome, type Pair } from './many';

/** Number of concurrent requests. */
const TOGETHER = 8;
const MARK = '/__ebbTouched';

interface Ref {
  id: string;
  partition: PartitionKey;
}

/** Changes one row; returns the row itself if it needed no change. */
type One = (row: Row) => Promise<Row | null>;

/** Returns the operation that sets a value, with its missing parent objects. */
function setting(item: Row['value'], path: Path, value: unknown): unknown {
  const part = missingPart(item, path);
  return { op: 'set', path: pointerOf(part), value: nested(path.slice(part.length), value) };
}

/** Returns the operations of a change; empty if it has no effect. */
function changing(item: Row['value'], change: FieldChange): unknown[] {
  const plan = planned(item, change);
  if ('error' in plan) throw new Error(plan.error);
  if ('same' in plan) return [];
  const { path } = change;
  if (change.does === 'set') return [setting(item, path, change.value)];
  if (change.does === 'remove') return [{ op: 'remove', path: pointerOf(path) }];
  const move = { op: 'move', from: pointerOf(path), path: pointerOf(change.to) };
  const above = change.to.slice(0, -1);
  const isThere = above.length === 0 || valueAtPath(item, above) !== undefined;
  return isThere ? [move] : [setting(item, above, {}), move];
}

function operationsOf(row: Row, act: Exclude<Act, { kind: 'delete' }>): unknown[] {
  if (act.kind === 'touch')
    return [
      { op: 'add', path: MARK, value: true },
      { op: 'remove', path: MARK },
    ];
  if (act.kind === 'field') return changing(row.value, act.change);
  if (act.seconds !== null) return [{ op: 'set', path: '/ttl', value: act.seconds }];
  return row.value.ttl === undefined ? [] : [{ op: 'remove', path: '/ttl' }];
}

/** Returns the operations that restore former values; inexact numbers are refused. */
function restoring(now: Row['value'], before: Row['value'], paths: readonly Path[]): unknown[] {
  return takingBack(before, paths).flatMap((change) => {
    if (change.does === 'set' && isInexact(change.value))
      throw new Error('It contains a number with too many digits.');
    return changing(now, change);
  });
}

/** The reading of the source whose items are changed. */
interface Reading {
  rowOf(text: ItemText): Row;
  /** Returns the rows with whole values; omits rows whose items no longer exist. */
  complete(rows: readonly Row[], signal: AbortSignal): Promise<readonly Row[]>;
}

export class NosqlMany implements Many {
  readonly most = 100;

  constructor(
    private readonly at: Place,
    private readonly reading: Reading,
  ) {}

  private about(row: Row, signal: AbortSignal): About {
    const { id, partition } = row.ref as Ref;
    return { at: this.at, id, key: partition, signal };
  }

  private async patch(row: Row, operations: unknown[], signal: AbortSignal): Promise<Row> {
    const etag = String(row.value._etag);
    return this.reading.rowOf(await patchOne(this.about(row, signal), operations, etag));
  }

  /** Processes the rows with bounded concurrency until the signal is aborted. */
  private async each(rows: readonly Row[], one: One, signal: AbortSignal): Promise<Outcome> {
    const outcome = nothingDone();
    const waiting = [...rows];
    const lane = async () => {
      for (let row = waiting.shift(); row !== undefined; row = waiting.shift()) {
        if (signal.aborted) return;
        add(outcome, await this.tried(row, one));
      }
    };
    await Promise.all(Array.from({ length: TOGETHER }, lane));
    return outcome;
  }

  /** Like `each`, with whole values of rows that the server has cut. */
  private async eachWhole(rows: readonly Row[], one: One, signal: AbortSignal): Promise<Outcome> {
    let complete: readonly Row[];
    try {
      complete = await this.reading.complete(rows, signal);
    } catch (error) {
      return signal.aborted ? nothingDone() : failed(rows.length, words(error));
    }
    const whole = new Map(complete.map((row) => [row.key, row]));
    const outcome = nothingDone();
    const wanted: Row[] = [];
    for (const { key, value } of rows) {
      const row = whole.get(key);
      if (row === undefined) outcome.gone.push(key);
      else if (row.value._etag !== value._etag) outcome.theirs.push(key);
      else wanted.push(row);
    }
    add(outcome, await this.each(wanted, one, signal));
    return outcome;
  }

  private async tried(row: Row, one: One): Promise<Outcome> {
    try {
      const after = await one(row);
      if (after === row) return { ...nothingDone(), same: [row] };
      return { ...nothingDone(), done: [{ before: row, after }] };
    } catch (error) {
      const status = error instanceof ApiError ? error.status : 0;
      if (status === 404) return { ...nothingDone(), gone: [row.key] };
      if (status === 412) return { ...nothingDone(), theirs: [row.key] };
      if (error instanceof ApiError && error.kind === 'cancelled') return nothingDone();
      return failed(1, words(error));
    }
  }

  apply(rows: readonly Row[], act: Act, signal: AbortSignal): Promise<Outcome> {
    if (act.kind === 'delete')
      return this.each(
        rows,
        async (row) => {
          await deleteOne(this.about(row, signal));
          return null;
        },
        signal,
      );
    const one: One = async (row) => {
      const operations = operationsOf(row, act);
      return operations.length === 0 ? row : this.patch(row, operations, signal);
    };
    // A change of a field depends on its value, and undo writes the former one.
    return act.kind === 'field' ? this.eachWhole(rows, one, signal) : this.each(rows, one, signal);
  }

  async restore(
    pairs: readonly Pair[],
    paths: readonly Path[],
    signal: AbortSignal,
  ): Promise<Outcome> {
    const before = new Map(pairs.map((pair) => [pair.before.key, pair.before]));
    const rows = pairs.flatMap(({ after }) => (after === null ? [] : [after]));
    const back: One = async (row) => {
      const operations = restoring(row.value, before.get(row.key)?.value ?? {}, paths);
      if (operations.length === 0) return row;
      try {
        return await this.patch(row, operations, signal);
      } catch (error) {
        // An invalid ttl, written while TTL was off, cannot be written again.
        const isTtl = paths.some(([root]) => root === 'ttl');
        if (!isTtl || !(error instanceof ApiError) || error.status !== 400) throw error;
        return this.patch(row, [{ op: 'remove', path: '/ttl' }], signal);
      }
    };
    return this.each(rows, back, signal);
  }
}
