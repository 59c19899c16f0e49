import { expect, test } from 'vitest';
import type { ImportForm } from './file';
import { refusedRows } from './refusedRows';

async function rows(text: string, form: ImportForm, refused: readonly number[], part = 7) {
  const bytes = new TextEncoder().encode(text);
  async function* chunks() {
    for (let at = 0; at < bytes.length; at += part) yield bytes.slice(at, at + part);
  }
  const parts: string[] = [];
  for await (const one of refusedRows(chunks(), form, refused)) parts.push(one);
  return parts.join('');
}

const csv = (delimiter: string, hasHeader: boolean): ImportForm => {
  const columns = ['id', 'text'].map((path) => ({ path, type: 'text' as const }));
  return { kind: 'csv', options: { delimiter, hasHeader, columns, empty: 'null', unguard: true } };
};
test('rows of JSON Lines come as they are, numbers as they were written', async () => {
  const text = '{"id":"a"}\n\n{ "id": "b", "n": 1.50, "big": 12345678901234567890 }\n{"id":"c"}\n';
  expect(await rows(text, { kind: 'lines' }, [1])).toBe(
    '{"id":"b","n":1.50,"big":12345678901234567890}\n',
  );
});

test('of an array on one line each is known, and what is no JSON is kept as a text', async () => {
  const text = '[{"id":"a"},{"id":"b"},{"id":nope},{"id":"d"}]';
  const found = await rows(text, { kind: 'json' }, [1, 2]);
  expect(found).toBe('{"id":"b"}\n{"id":nope}\n');
});

test.each([1, 2, 5, 1000])('rows of CSV stay as they are, in parts of %i', async (part) => {
  const text = '\ufeffid;text\r\na;one\r\n\r\nb;"two\r\nlines; ""here"""\r\nc;thr"ee\r\nd\ne;"open';
  const all = await rows(text, csv(';', true), [1, 2, 3, 4], part);
  const wanted = ['id;text', 'b;"two\r\nlines; ""here"""', 'c;thr"ee', 'd', 'e;"open'];
  expect(all).toBe(`${wanted.join('\r\n')}\r\n`);
});

test('CSV without names has none', async () => {
  expect(await rows('a,one\nb,two\n', csv(',', false), [0])).toBe('a,one\r\n');
});
