// Changes many items of a container, some requests at a time.
import { ApiError, words } from '../../../api/http';
import type { ItemText, PartitionKey, Place } from '../../../api/nosql';
import { type About, deleteOne, patchOne } from '../../../api/nosqlMany';
import type { Row } from '../source';
import { type Act, add, type Many, nothingDone, type Outcome, type Pair } from './many';

/** Requests that are under way together. */
const TOGETHER = 8;
const MARK = '/__ebbTouched';

interface Ref {
  id: string;
  partition: PartitionKey;
}

type One = (row: Row) => Promise<Row | null>;

function operationsOf(row: Row, act: Exclude<Act, { kind: 'delete' }>): unknown[] {
  if (act.kind === 'touch')
    return [
      { op: 'add', path: MARK, value: true },
      { op: 'remove', path: MARK },
    ];
  if (act.seconds !== null) return [{ op: 'set', path: '/ttl', value: act.seconds }];
  return row.value.ttl === undefined ? [] : [{ op: 'remove', path: '/ttl' }];
}

export class NosqlMany implements Many {
  readonly most = 100;

  constructor(
    private readonly at: Place,
    private readonly rowOf: (text: ItemText) => Row,
  ) {}

  private about(row: Row, signal: AbortSignal): About {
    const { id, partition } = row.ref as Ref;
    return { at: this.at, id, key: partition, signal };
  }

  private async patch(row: Row, operations: unknown[], signal: AbortSignal): Promise<Row> {
    if (operations.length === 0) return row;
    const etag = String(row.value._etag);
    return this.rowOf(await patchOne(this.about(row, signal), operations, etag));
  }

  /** One after the other in each of some lanes, until the signal. */
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

  private async tried(row: Row, one: One): Promise<Outcome> {
    try {
      return { ...nothingDone(), done: [{ before: row, after: await one(row) }] };
    } catch (error) {
      const status = error instanceof ApiError ? error.status : 0;
      if (status === 404) return { ...nothingDone(), gone: [row.key] };
      if (status === 412) return { ...nothingDone(), theirs: [row.key] };
      if (error instanceof ApiError && error.kind === 'cancelled') return nothingDone();
      return { ...nothingDone(), failed: { count: 1, why: words(error) } };
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
    return this.each(rows, (row) => this.patch(row, operationsOf(row, act), signal), signal);
  }

  async restore(pairs: readonly Pair[], signal: AbortSignal): Promise<Outcome> {
    const before = new Map(pairs.map((pair) => [pair.before.key, pair.before]));
    const rows = pairs.flatMap(({ after }) => (after === null ? [] : [after]));
    const back: One = async (row) => {
      const ttl = before.get(row.key)?.value.ttl;
      if (ttl === undefined) return this.patch(row, [{ op: 'remove', path: '/ttl' }], signal);
      try {
        return await this.patch(row, [{ op: 'set', path: '/ttl', value: ttl }], signal);
      } catch (error) {
        // A ttl that counted for nothing, from while TTL was off, cannot be written again.
        if (!(error instanceof ApiError) || error.status !== 400) throw error;
        return this.patch(row, [{ op: 'remove', path: '/ttl' }], signal);
      }
    };
    return this.each(rows, back, signal);
  }
}
