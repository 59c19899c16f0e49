import { expect, test } from 'vitest';
import { guessForm, preview, readerOf, readFile } from './file';
import { finishItem } from './finish';

test.each([
  ['a.csv', '{"a":1}', 'csv'],
  ['a.tsv', 'a\tb', 'csv'],
  ['a.ndjson', '', 'lines'],
  ['a.json', '\ufeff [{}', 'json'],
  ['a.json', '{"a":1}\n{"b":2}\n{"c', 'lines'],
  ['a.json', '{\n  "a": 1\n}\n{', 'json'],
  ['a.json', '{"a":1}', 'lines'],
  ['', 'id,name\n1,x', 'csv'],
  ['a.json', 'x', 'json'],
])('%s that begins with %j is %s', (name, head, kind) => {
  expect(guessForm(name, head, 'nosql').kind).toBe(kind);
});

test('a preview leaves out what is cut off', () => {
  const head = '{"a":1}\n{"b":';
  expect(preview({ kind: 'lines' }, head, false, 5, 'nosql', finishItem)).toHaveLength(1);
  expect(preview({ kind: 'lines' }, head, true, 5, 'nosql', finishItem)).toHaveLength(2);
  expect(preview({ kind: 'lines' }, head, true, 1, 'nosql', finishItem)).toHaveLength(1);
});

async function* chunked(bytes: Uint8Array, length: number) {
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length);
}

async function all(bytes: Uint8Array, length: number) {
  const found = [];
  let last = 0;
  const reader = readerOf({ kind: 'lines' }, 'nosql', finishItem);
  for await (const part of readFile(chunked(bytes, length), reader)) {
    found.push(...part.found);
    expect(part.bytes).toBeGreaterThanOrEqual(last);
    last = part.bytes;
  }
  return { found, last };
}

test('characters may be cut by chunks', async () => {
  const bytes = new TextEncoder().encode('\ufeff{"a":"é😀"}\n{"b":"ü"}');
  for (const length of [1, 2, 3, 100]) {
    const { found, last } = await all(bytes, length);
    expect(found.map((one) => one.kind === 'document' && one.value)).toEqual([
      '{"a":"é😀"}',
      '{"b":"ü"}',
    ]);
    expect(last).toBe(bytes.length);
  }
});

test('what is not UTF-8 ends the reading', async () => {
  for (const broken of [[0xff, 0x0a], [0xc3]]) {
    const bytes = Uint8Array.from([...new TextEncoder().encode('{"a":1}\n'), ...broken]);
    const { found } = await all(bytes, 4);
    expect(found.map(({ kind, line }) => [kind, line])).toEqual([
      ['document', 1],
      ['refused', 2],
    ]);
  }
});

test('a large file is held in parts', async () => {
  const line = new TextEncoder().encode(`{"id":"${'x'.repeat(90)}"}\n`);
  async function* many() {
    for (let at = 0; at < 20_000; at += 1) yield line;
  }
  let documents = 0;
  let most = 0;
  const reader = readerOf({ kind: 'lines' }, 'nosql', finishItem);
  for await (const { found } of readFile(many(), reader)) {
    documents += found.length;
    most = Math.max(most, found.length);
  }
  expect([documents, most]).toEqual([20_000, 1]);
});
