import { type Document, deserialize, Long, serialize } from 'bson';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { log } from '../state/log';
import { close, closeAll, more, open, run } from './mongo';

let asked: { command: Document; init: RequestInit }[] = [];
let answer: (command: Document) => Document | Error | Response;

const batch = (id: number): Document => ({
  ok: 1,
  cursor: { id: Long.fromNumber(id), ns: 'app.a.b', firstBatch: [], nextBatch: [] },
});
/** The database and ids of each killCursors command. */
const killed = () =>
  asked
    .filter(({ command }) => 'killCursors' in command)
    .map(({ command }) => [command.killCursors, ...(command.cursors as number[]).map(Number)]);

beforeEach(() => {
  asked = [];
  log.set([]);
  answer = () => batch(7);
  vi.stubGlobal('fetch', (_path: string, init: RequestInit) => {
    const command = deserialize(init.body as Uint8Array);
    asked.push({ command, init });
    const answered = 'killCursors' in command ? { ok: 1 } : answer(command);
    if (answered instanceof Error) return Promise.reject(answered);
    if (answered instanceof Response) return Promise.resolve(answered);
    return Promise.resolve(new Response(Uint8Array.from(serialize(answered))));
  });
});
afterEach(async () => {
  await closeAll();
  vi.unstubAllGlobals();
});

test('a cursor is closed once, in its collection, and also while the page is left', async () => {
  const { cursor } = await open('app', { find: 'a.b' });
  await close(cursor);
  await close(cursor);
  await closeAll();
  expect(killed()).toEqual([['a.b', 7]]);
  expect(asked.at(-1)?.init.keepalive).toBe(true);
});

test('a cursor that was read to its end is not closed', async () => {
  const { cursor } = await open('app', { find: 'a.b' });
  answer = () => batch(0);
  expect((await more('app', 'a.b', cursor, 10)).cursor).toBeNull();
  await closeAll();
  expect(killed()).toEqual([]);
});

test('all that are open are closed together', async () => {
  await open('app', { find: 'a.b' });
  answer = () => batch(8);
  await open('app', { find: 'a.b' });
  await closeAll();
  expect(killed()).toEqual([
    ['a.b', 7],
    ['a.b', 8],
  ]);
});

test('a cursor whose next batch was lost is closed', async () => {
  const { cursor } = await open('app', { find: 'a.b' });
  answer = () => new TypeError('gone');
  await expect(more('app', 'a.b', cursor, 10)).rejects.toThrow('is not responding');
  await vi.waitFor(() => expect(killed()).toEqual([['a.b', 7]]));
});

test('nobody is told that a cursor could not be closed', async () => {
  const { cursor } = await open('app', { find: 'a.b' }, { quiet: true });
  vi.stubGlobal('fetch', () => Promise.resolve(new Response('{}', { status: 401 })));
  await close(cursor);
  expect(log.get()).toEqual([]);
});

test.each([
  ['createIndexes', 6 * 3600_000],
  ['collMod', 6 * 3600_000],
  ['find', 120_000],
])('%s may take %d ms', async (name, wanted) => {
  const timeout = vi.spyOn(AbortSignal, 'timeout');
  await run('app', { [name]: 'log' });
  expect(timeout.mock.calls.map(([ms]) => ms)).toEqual([wanted]);
  timeout.mockRestore();
});
