// A running import: reads a file in chunks, writes its documents in concurrent batches, and counts
// outcomes. Memory is bounded. Renders nothing.
import { ApiError, words } from '../../../api/http';
import { type ImportForm, readerOf, readFile } from '../../../pure/importing/file';
import { whereIn } from '../../../pure/importing/found';
import type { Api } from '../../../pure/values/compare';
import {
  type Entry,
  nothingWritten,
  type Refusal,
  refusal,
  together,
  type Writer,
  type Written,
} from './writer';

/** Maximum number of errors kept for display and download; further ones are only counted. */
export const MOST_REFUSALS = 10_000;
/** Number of concurrent requests. */
const AT_ONCE = 4;
/** Interval at which the import yields, so that the browser can render and handle input. */
const BREATH_MS = 12;
const LONGEST_WHY = 300;
/** After cancellation, time to wait for pending responses. */
const GRACE_MS = 3000;

export interface ImportState {
  /** Bytes of the file read so far. */
  bytes: number;
  made: number;
  replaced: number;
  skipped: number;
  refused: number;
  /** The first errors, up to the limit. */
  refusals: readonly Refusal[];
  /** Number of requests without response, whose outcome is unknown. */
  unknown: number;
}

export const NOTHING: ImportState = {
  bytes: 0,
  made: 0,
  replaced: 0,
  skipped: 0,
  refused: 0,
  refusals: [],
  unknown: 0,
};

export interface ImportJob<T> {
  file: Blob;
  form: ImportForm;
  api: Api;
  writer: Writer<T>;
  signal: AbortSignal;
  onState: (state: ImportState) => void;
}

export async function* chunksOf(file: Blob, signal?: AbortSignal): AsyncGenerator<Uint8Array> {
  const reader = file.stream().getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done || signal?.aborted === true) return;
      yield value;
    }
  } finally {
    void reader.cancel();
  }
}

/** Yields to other tasks of the browser. */
function breath(): Promise<void> {
  return new Promise((resolve) => {
    const channel = new MessageChannel();
    channel.port1.onmessage = () => {
      channel.port1.close();
      resolve();
    };
    channel.port2.postMessage(null);
  });
}

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

const isRefused = (error: unknown) =>
  error instanceof ApiError && error.kind === 'refused' && [400, 413, 200].includes(error.status);

/** Writes a batch; if the server refuses it as a whole, writes each half separately. */
export async function writeApart<T>(
  writer: Writer<T>,
  entries: readonly Entry<T>[],
  signal: AbortSignal,
): Promise<Written> {
  try {
    return await writer.write(entries, signal);
  } catch (error) {
    const [first] = entries;
    if (!isRefused(error) || first === undefined) throw error;
    if (entries.length === 1) {
      return { ...nothingWritten(), refused: [refusal(first, words(error))] };
    }
    const half = Math.ceil(entries.length / 2);
    const before = await writeApart(writer, entries.slice(0, half), signal);
    return together(before, await writeApart(writer, entries.slice(half), signal));
  }
}

/** Pending requests. Equal ids are never in two of them, so that the last one in the file wins. */
class Sending<T> {
  private readonly running = new Set<{ ids: ReadonlySet<string>; done: Promise<void> }>();
  failure: unknown = null;

  constructor(
    private readonly writer: Writer<T>,
    /** Aborted: send nothing more. */
    private readonly stop: AbortSignal,
    /** Aborted: cancel pending requests. */
    private readonly giveUp: AbortSignal,
    private readonly onWritten: (written: Written) => void,
  ) {}

  get unknown(): number {
    return this.running.size;
  }

  async send(entries: readonly Entry<T>[]): Promise<void> {
    const found = entries.map(({ value }) => this.writer.idOf(value));
    const ids = new Set(found.filter((id) => id !== null));
    for (;;) {
      if (this.failure !== null) throw this.failure;
      this.stop.throwIfAborted();
      const others = [...this.running];
      const same = others.find((other) => [...other.ids].some((id) => ids.has(id)));
      if (same !== undefined) await same.done;
      else if (others.length >= AT_ONCE) await Promise.race(others.map(({ done }) => done));
      else break;
    }
    const one = { ids, done: Promise.resolve() };
    one.done = writeApart(this.writer, entries, this.giveUp).then(
      (written) => {
        this.running.delete(one);
        this.onWritten(written);
      },
      (error: unknown) => {
        // Stays among the pending requests, and so counts as unknown.
        this.failure ??= error;
      },
    );
    this.running.add(one);
  }

  async end(): Promise<void> {
    await Promise.all([...this.running].map(({ done }) => done));
    if (this.failure !== null) throw this.failure;
  }
}

class Tally {
  state = NOTHING;

  constructor(private readonly onState: (state: ImportState) => void) {}

  put(change: Partial<ImportState>): void {
    this.state = { ...this.state, ...change };
    this.onState(this.state);
  }

  refuse(refused: readonly Refusal[]): void {
    if (refused.length === 0) return;
    const room = MOST_REFUSALS - this.state.refusals.length;
    const kept = refused.slice(0, room).map((one) => {
      const { why } = one;
      return refusal(one, why.length > LONGEST_WHY ? `${why.slice(0, LONGEST_WHY)}…` : why);
    });
    const refusals = kept.length > 0 ? [...this.state.refusals, ...kept] : this.state.refusals;
    this.put({ refused: this.state.refused + refused.length, refusals });
  }

  add(written: Written): void {
    const { made, replaced, skipped } = this.state;
    this.put({
      made: made + written.made,
      replaced: replaced + written.replaced,
      skipped: skipped + written.skipped,
    });
    this.refuse(written.refused);
  }
}

/** Imports a file. Resolves when all is written; throws when cancelled or on a server failure. */
export async function runImport<T>(job: ImportJob<T>): Promise<void> {
  const { file, form, api, writer, signal } = job;
  const tally = new Tally(job.onState);
  const giveUp = new AbortController();
  signal.addEventListener('abort', () => setTimeout(() => giveUp.abort(), GRACE_MS));
  const sending = new Sending(writer, signal, giveUp.signal, (written) => tally.add(written));
  const reader = readerOf(form, api, writer.finish);
  let batch: Entry<T>[] = [];
  let characters = 0;
  let breathed = performance.now();
  const flush = async () => {
    const entries = batch;
    batch = [];
    characters = 0;
    if (entries.length > 0) await sending.send(entries);
  };
  try {
    let before = 0;
    let nth = -1;
    for await (const { found, bytes } of readFile(chunksOf(file, signal), reader)) {
      // Approximate size of each document in this chunk.
      const each = (bytes - before) / Math.max(1, found.length);
      before = bytes;
      if (found.length === 0) characters += each;
      for (const one of found) {
        nth += 1;
        const at = { nth, line: one.line };
        if (one.kind === 'refused') {
          tally.refuse([refusal(at, `${capital(whereIn(one))}: ${one.why}`)]);
          continue;
        }
        const isFull = batch.length >= writer.most.documents;
        if (isFull || characters + each > writer.most.characters) await flush();
        batch.push({ ...at, value: one.value });
        characters += each;
      }
      tally.put({ bytes });
      if (performance.now() - breathed > BREATH_MS) {
        await breath();
        breathed = performance.now();
      }
      signal.throwIfAborted();
    }
    signal.throwIfAborted();
    await flush();
    await sending.end();
  } catch (error) {
    // Wait for pending requests to complete or fail.
    await sending.end().catch(() => undefined);
    tally.put({ unknown: sending.unknown });
    throw error;
  }
}
