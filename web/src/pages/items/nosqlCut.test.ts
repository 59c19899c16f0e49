import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { changesSince } from '../../api/changeFeed';
import { NosqlSource } from './nosqlSource';
import type { Row } from './source';
import { itemPages } from './transfer/exportPages';

const target = { door: 'nosql', database: 'app', collection: 'log' } as const;
const container = { id: 'log', _rid: '', _self: '', _etag: '', partitionKey: { paths: ['/user'] } };

interface Item {
  id: string;
  user: string;
  text: string;
  n: number;
  _etag: string;
  _ts: number;
}

/** The stored items. The server cuts those with more than ten characters of text. */
let stored = new Map<string, Item>();
/** Requests in the form `POST cut`, `GET large`. */
let sent: string[] = [];

function listed(mayCut: boolean): object {
  const items = [...stored.values()];
  if (!mayCut) return { Documents: items };
  const short = items.map((item) => ({ ...item, text: item.text.slice(0, 10) }));
  return { Documents: short, _cut: items.flatMap(({ text }, at) => (text.length > 10 ? at : [])) };
}

function answered(path: string, init: RequestInit): Response {
  const headers = new Headers(init.headers);
  const mayCut = headers.get('x-ebb-cut') === 'true';
  const id = path.split('/docs/')[1] ?? '';
  const method = init.method ?? 'GET';
  sent.push(`${method} ${mayCut ? 'cut' : id}`.trim());
  if (id === '') return Response.json(listed(mayCut));
  const item = stored.get(id);
  if (item === undefined) return Response.json({ code: 'NotFound', message: '' }, { status: 404 });
  if (method === 'PATCH') {
    if (headers.get('if-match') !== item._etag)
      return Response.json({ code: 'PreconditionFailed', message: '' }, { status: 412 });
    for (const { op, path, value } of JSON.parse(String(init.body)).operations) {
      if (op !== 'set') throw new Error(`the server has no ${op}`);
      Object.assign(item, { [path.slice(1)]: value });
    }
    item._etag += '+';
  }
  return Response.json(item, { headers: { etag: item._etag } });
}

const REST = 'the rest of it';
const [SHORT, LONG] = ['short', `0123456789${REST}`];

function put(id: string, text: string): void {
  stored.set(id, { id, user: 'ada', text, n: 1, _etag: `"${id}"`, _ts: 0 });
}

beforeEach(() => {
  [stored, sent] = [new Map(), []];
  put('small', SHORT);
  put('large', LONG);
  vi.stubGlobal('fetch', (path: string, init: RequestInit) =>
    Promise.resolve(answered(path, init)),
  );
});
afterEach(() => vi.unstubAllGlobals());

const { signal } = new AbortController();
const source = new NosqlSource(target, container);

async function list(whole?: boolean): Promise<[Row, Row]> {
  const ask = { filter: '', sort: null, ...(whole === undefined ? {} : { whole }) };
  const [small, large] = (await source.load(ask, null, 100, signal)).rows;
  if (small === undefined || large === undefined) throw new Error('rows are missing');
  return [small, large];
}

test('a list has the start of large items, and each is read whole when it is needed', async () => {
  const [small, large] = await list();
  expect([small.isCut, large.isCut]).toEqual([false, true]);
  expect([small.value.text, large.value.text]).toEqual([SHORT, '0123456789']);
  expect(sent).toEqual(['POST cut']);
  expect(await source.complete([small])).toEqual([small]);
  expect(sent).toEqual(['POST cut']);
  expect(await source.complete([small, large])).toMatchObject([
    { key: small.key, value: { text: SHORT } },
    { key: large.key, isCut: false, value: { text: LONG } },
  ]);
  expect((await source.open(large))?.text).toContain(REST);
  expect(await source.json(large)).toContain(REST);
  expect(await source.copyOf(large, 'other')).toContain(REST);
  stored.delete('large');
  expect(await source.complete([small, large])).toEqual([small]);
});

test('a list of whole items is not cut', async () => {
  const rows = await list(true);
  expect(rows.map(({ isCut }) => isCut)).toEqual([false, false]);
  expect(rows.map(({ value }) => value.text)).toEqual([SHORT, LONG]);
});

test('an export is not cut', async () => {
  const [, large] = await list();
  for (const what of [{ filter: '' }, { rows: [large] }]) {
    const texts: string[] = [];
    for await (const page of itemPages(target, what, signal)) texts.push(...page);
    expect(texts.join('')).toContain(REST);
  }
});

test('changes of others are read cut, since only keys and ETags are used', async () => {
  await changesSince({ database: 'app', container: 'log' }, null, signal);
  expect(sent).toEqual(['GET cut']);
});

const setting = (path: string, value: unknown) =>
  ({ kind: 'field', change: { does: 'set', path: [path], value } }) as const;

test('a change of a field keeps the rest of an item that was cut, and undo restores it', async () => {
  const [, large] = await list();
  const changed = await source.many.apply([large], setting('n', 2), signal);
  expect(changed.done).toHaveLength(1);
  expect(stored.get('large')).toMatchObject({ n: 2, text: LONG });
  const again = await list();
  const written = await source.many.apply([again[1]], setting('text', '0123456789'), signal);
  expect(written.done).toHaveLength(1);
  expect(stored.get('large')).toMatchObject({ n: 2, text: '0123456789' });
  await source.many.restore(written.done, [['text']], signal);
  expect(stored.get('large')).toMatchObject({ n: 2, text: LONG });
});

test('an item that was cut and has changed or gone since is left as it is', async () => {
  const [, large] = await list();
  put('large', `${LONG}, changed`);
  Object.assign(stored.get('large') ?? {}, { _etag: '"other"' });
  const theirs = await source.many.apply([large], setting('n', 2), signal);
  expect(theirs).toMatchObject({ done: [], theirs: [large.key] });
  expect(stored.get('large')).toMatchObject({ n: 1 });
  stored.delete('large');
  const gone = await source.many.apply([large], setting('n', 2), signal);
  expect(gone).toMatchObject({ done: [], gone: [large.key] });
});
