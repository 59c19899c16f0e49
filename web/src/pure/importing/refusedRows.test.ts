import { expect, test } from 'vitest';
import type { ImportForm } from './file';
import { type RefusedRow, refusedRows } from './refusedRows';

async function rows(text: string, form: ImportForm, refused: readonly RefusedRow[], part = 7) {
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
const refused = (...nths: number[]) =>
  nths.map((nth): RefusedRow => ({ nth, line: nth + 2, why: `no "${nth}"` }));

test('rows of JSON Lines come with their reason, numbers as they were written', async () => {
  const text = '{"id":"a"}\n\n{ "id": "b", "n": 1.50, "big": 12345678901234567890 }\n{"id":"c"}\n';
  expect(await rows(text, { kind: 'lines' }, refused(1))).toBe(
    '{"line":3,"reason":"no \\"1\\"","row":{"id":"b","n":1.50,"big":12345678901234567890}}\n',
  );
});

test('of an array on one line each is known, and what is no JSON is kept as a text', async () => {
  const text = '[{"id":"a"},{"id":"b"},{"id":nope},{"id":"d"}]';
  const found = await rows(text, { kind: 'json' }, refused(1, 2));
  const lines = found.trimEnd().split('\n');
  expect(lines.map((line) => (JSON.parse(line) as { row: unknown }).row)).toEqual([
    { id: 'b' },
    '{"id":nope}',
  ]);
});

test.each([1, 2, 5, 1000])('rows of CSV stay as they are, in parts of %i', async (part) => {
  const text = '\ufeffid;text\r\na;one\r\n\r\nb;"two\r\nlines; ""here"""\r\nc;thr"ee\r\nd\ne;"open';
  const all = await rows(text, csv(';', true), refused(1, 2, 3, 4), part);
  const wanted = [
    'line;reason;id;text',
    '3;"no ""1""";b;"two\r\nlines; ""here"""',
    '4;"no ""2""";c;thr"ee',
    '5;"no ""3""";d',
    '6;"no ""4""";e;"open',
  ];
  expect(all).toBe(`${wanted.join('\r\n')}\r\n`);
});

test('CSV without names has none', async () => {
  expect(await rows('a,one\nb,two\n', csv(',', false), refused(0))).toBe('2,"no ""0""",a,one\r\n');
});
