import { type Document, deserialize, type Int32, Long, serialize } from 'bson';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { CUT_ABOVE } from '../../api/cutting';
import { MongoSource } from './mongoSource';

const ALL = 10;
const target = { door: 'mongo', database: 'app', collection: 'log' } as const;

/** A server with documents 0 to 9 and one cursor; `fails` names the command that fails next. */
let fails = '';
let at = 0;
let isOpen = false;

function first(size: number, after: number): Document {
  at = after + 1 + size;
  isOpen = at < ALL;
  return cursor('firstBatch', after + 1, at);
}
/** The server cuts document 4. */
const CUT = 4;
function wrapped(id: number): Document {
  const d = { _id: id, text: id === CUT ? 'the beginning' : 'short' };
  return { d, n: id === CUT ? CUT_ABOVE + 1 : 30 };
}
function cursor(name: string, from: number, to: number): Document {
  const documents = Array.from({ length: Math.min(to, ALL) - from }, (_, index) =>
    wrapped(from + index),
  );
  return {
    ok: 1,
    cursor: { id: Long.fromNumber(isOpen ? 5 : 0), ns: 'app.log', [name]: documents },
  };
}
function answered(command: Document): Document {
  if ('killCursors' in command) isOpen = false;
  if ('find' in command) {
    // Reads whole documents by their ids.
    const ids = command.filter._id.$in as number[];
    const documents = ids.map((_id) => ({ _id, text: `the beginning and the rest of ${_id}` }));
    return { ok: 1, cursor: { id: Long.ZERO, ns: 'app.log', firstBatch: documents } };
  }
  if ('aggregate' in command) {
    const [{ $match: filter }] = command.pipeline as [Document];
    const [, after] = (filter.$and ?? []) as Document[];
    return first(
      command.cursor.batchSize as number,
      after === undefined ? -1 : (after.$expr.$gt[1].$literal as number),
    );
  }
  if ('getMore' in command) {
    if (!isOpen) return { ok: 0, code: 43, errmsg: 'cursor not found' };
    const from = at;
    at += command.batchSize as number;
    isOpen = at < ALL;
    return cursor('nextBatch', from, at);
  }
  const facts = ((command.ids ?? []) as number[]).map((_id) => ({
    _id,
    written: new Date(0),
    class: 'never',
    diesAt: null,
    by: null,
  }));
  return { ok: 1, documents: facts };
}

beforeEach(() => {
  fails = '';
  vi.stubGlobal('fetch', (_path: string, init: RequestInit) => {
    const command = deserialize(init.body as Uint8Array);
    const reply = answered(command);
    const isLost = fails !== '' && fails in command;
    if (isLost) fails = '';
    // The response is lost, but the command was executed.
    return isLost
      ? Promise.reject(new TypeError('gone'))
      : Promise.resolve(new Response(Uint8Array.from(serialize(reply))));
  });
});
afterEach(() => vi.unstubAllGlobals());

test.each(['getMore', 'ebbExpiry'])('rows whose %s was lost are asked for again', async (name) => {
  const source = new MongoSource(target, null, true);
  const { signal } = new AbortController();
  const ids = (rows: { ref: unknown }[]) => rows.map(({ ref }) => (ref as Int32).value);
  const begun = await source.load(EVERYTHING, null, 3, signal);
  expect(ids(begun.rows)).toEqual([0, 1, 2]);
  fails = name;
  await expect(source.load(EVERYTHING, begun.cursor, 3, signal)).rejects.toThrow(
    'is not responding',
  );
  const next = await source.load(EVERYTHING, begun.cursor, 3, signal);
  expect(ids(next.rows)).toEqual([3, 4, 5]);
  const last = await source.load(EVERYTHING, next.cursor, 100, signal);
  expect(ids(last.rows)).toEqual([6, 7, 8, 9]);
  expect(last.cursor).toBeNull();
});

const EVERYTHING = { filter: '', sort: null };

test('a document that the server has cut is read whole when it is needed', async () => {
  const source = new MongoSource(target, null, true);
  const { rows } = await source.load(EVERYTHING, null, 5, new AbortController().signal);
  expect(rows.map(({ isCut }) => isCut)).toEqual([false, false, false, false, true]);
  const [short, cut] = rows.slice(3);
  if (short === undefined || cut === undefined) throw new Error('rows are missing');
  expect(cut.value.text).toBe('the beginning');
  expect(await source.complete([short, cut])).toMatchObject([
    { key: short.key, value: { text: 'short' } },
    { key: cut.key, isCut: false, value: { text: 'the beginning and the rest of 4' } },
  ]);
  expect(await source.json(cut)).toContain('and the rest');
  expect(await source.copyOf(cut)).toContain('and the rest');
});

test('a cursor that is given up is closed', async () => {
  const source = new MongoSource(target, null, true);
  const { cursor: held } = await source.load(EVERYTHING, null, 3, new AbortController().signal);
  expect(isOpen).toBe(true);
  if (held !== null) source.release(held);
  await vi.waitFor(() => expect(isOpen).toBe(false));
});
