import { Int32, ObjectId } from 'bson';
import { expect, test } from 'vitest';
import { numbers, texts } from '../testing/random';
import { csvReader, guessCsv } from './csv';
import { CsvSplitter, guessDelimiter } from './csvRecords';
import { type CsvType, cellOf, guessType } from './csvTypes';
import { finishDocument, finishItem } from './finish';
import { guarded, unguarded } from './formulas';

function records(text: string, length: number, most?: number, delimiter = ',') {
  const splitter = new CsvSplitter(delimiter, most);
  const found = [];
  for (let at = 0; at < text.length; at += length) {
    found.push(...splitter.push(text.slice(at, at + length)));
  }
  found.push(...splitter.end());
  return found.map((one) =>
    one.kind === 'record'
      ? one.fields.map((field) => field.text)
      : `${one.line}:${one.column} ${one.why}`,
  );
}

test.each<[string, unknown[]]>([
  ['', []],
  [
    '\ufeffa,b\r\n1,2',
    [
      ['a', 'b'],
      ['1', '2'],
    ],
  ],
  ['a\rb\nc\r\n\r\nd\n', [['a'], ['b'], ['c'], ['d']]],
  ['"a ""b"" c","x\r\ny, z"\n', [['a "b" c', 'x\r\ny, z']]],
  ['a,\n,\n""\n', [['a', ''], ['', ''], ['']]],
  ['a\n"x" y,b\nc', [['a'], '2:4 unexpected text after a closing quote.', ['c']]],
  ['a"b\nc', ['1:2 unexpected quote in an unquoted field.', ['c']]],
  ['a\n"b\nc,d', [['a'], '2:1 the quote that opens here is not closed.']],
])('%j in parts of any length', (text, want) => {
  for (const length of [1, 2, 3, 1000]) expect(records(text, length)).toEqual(want);
});

test('no more of a row is held than the bound', () => {
  const text = `a\n"${'x\n'.repeat(100)}",b\nc,d`;
  const want = [['a'], '2:1 more than 50 characters in one row.', ['c', 'd']];
  for (const length of [1, 7, 1000]) expect(records(text, length, 50)).toEqual(want);
});

test('any texts read back', () => {
  const next = texts(5, 'ab,"\'\r\n;\t =é😀');
  const size = numbers(6);
  for (let round = 0; round < 500; round += 1) {
    const width = 1 + size(4);
    const rows = Array.from({ length: 1 + size(4) }, () =>
      Array.from({ length: width }, () => next(6)),
    );
    const quote = (text: string) => `"${text.replaceAll('"', '""')}"`;
    const text = rows.map((row) => row.map(quote).join(',')).join(round % 2 ? '\r\n' : '\n');
    expect(records(text, 1 + size(9))).toEqual(rows);
  }
});

test.each([
  ['a,b;c,d', ','],
  ['a;b;"x,y,z,w"', ';'],
  ['a\tb', '\t'],
  ['a', ','],
])('%j is delimited by %j', (head, want) => expect(guessDelimiter(head)).toBe(want));

test.each<[string[], CsvType]>([
  [['1', '-2.5e3', ''], 'number'],
  [['007'], 'text'],
  [['1', 'x'], 'text'],
  [['"1"', '"2"'], 'text'],
  [['true', 'FALSE'], 'boolean'],
  [['"true"', '"false"'], 'text'],
  [['"2026-01-31"', ''], 'text'],
  [['"2026-01-31"', '2026-01-31'], 'date'],
  [['2026-01-31', '2026-01-31 12:00:00Z'], 'date'],
  [['2026-13-41'], 'text'],
  [['65f0c0ffee0123456789abcd'], 'objectId'],
  [['[1]', '{"a":1}'], 'json'],
  [['{x}'], 'text'],
  [['', ''], 'text'],
])('%j is %s', (column, want) => {
  const fields = column.map((text) => ({
    text: text.replaceAll('"', text.startsWith('"') ? '' : '"'),
    quoted: text.startsWith('"'),
  }));
  expect(guessType(fields, 'mongo')).toBe(want);
});

test.each<[string, string[], CsvType]>([
  [';', ['12,50', '-3', '1.234,5'], 'commaNumber'],
  ['\t', ['0,1'], 'commaNumber'],
  // With points only, they are decimal points.
  [';', ['1.234', '12.5'], 'number'],
  [';', ['1,2,3'], 'text'],
  [';', ['12,50', '12.5'], 'text'],
  [';', ['1,234.5'], 'text'],
  // May be one thousand.
  [',', ['1,234'], 'text'],
  [';', ['31.12.2026', '1.2.2026 9:30'], 'dayFirst'],
  [',', ['31/12/2026', '01/02/2026 09:30:15'], 'dayFirst'],
  [',', ['31-12-2026'], 'dayFirst'],
  // Ambiguous: the month may come first.
  [',', ['01/02/2026', '03/04/2026'], 'text'],
  [',', ['12/31/2026', '31/12/2026'], 'text'],
  [';', ['30.02.2026'], 'text'],
  [';', ['31.12/2026'], 'text'],
  [';', ['31.12.2026 25:00'], 'text'],
])('with %j between fields %j is %s', (delimiter, column, want) => {
  const fields = column.map((text) => ({ text, quoted: false }));
  expect(guessType(fields, 'nosql', delimiter)).toBe(want);
});

test('a file of a spreadsheet with decimal commas and the day first', () => {
  const text = 'id;price;at\r\na;1.234,50;31.12.2026 09:30\r\nb;12,5;1.2.2026 9:30\r\n';
  const items = csvReader(guessCsv(text, 'nosql'), 'nosql', finishItem).push(text);
  expect(items.map((one) => (one.kind === 'document' ? one.value : one))).toEqual([
    '{"id":"a","price":1234.50,"at":"2026-12-31T09:30:00Z"}',
    '{"id":"b","price":12.5,"at":"2026-02-01T09:30:00Z"}',
  ]);
  const documents = csvReader(guessCsv(text, 'mongo'), 'mongo', finishDocument).push(text);
  expect(documents.map((one) => (one.kind === 'document' ? one.value.at : one))).toEqual([
    new Date('2026-12-31T09:30:00Z'),
    new Date('2026-02-01T09:30:00Z'),
  ]);
});

test.each<[CsvType, string, RegExp]>([
  ['commaNumber', '12.5', /not a number like 12,5/],
  ['dayFirst', '2026-12-31', /not a date like 31\.12\.2026/],
  ['dayFirst', '31.02.2026', /not a date/],
])('as %s %j is refused', (type, text, why) => {
  const cell = cellOf({ text, quoted: false }, type, 'mongo');
  expect('why' in cell ? cell.why : '').toMatch(why);
});

const FILE = `id,name,address.city,n,at,tags\r
1,"=cmd()",Rome,9007199254740993,2026-01-31T12:00:00Z,"[1,2]"\r
2,,,x,,\r
3,a\r
"4","",,,,\r
`;

test('items: types by column, nested fields, refusals with their place', () => {
  const options = guessCsv(FILE.split('\r\n').slice(0, 2).join('\r\n').concat('\r\n'), 'nosql');
  expect(options.columns.map(({ type }) => type)).toEqual([
    ...['number', 'text', 'text', 'number', 'date', 'json'],
  ]);
  const columns = options.columns.with(0, { path: 'id', type: 'text' });
  const reader = csvReader({ ...options, columns }, 'nosql', finishItem);
  const found = [...reader.push(FILE), ...reader.end()];
  expect(found).toEqual([
    {
      kind: 'document',
      line: 2,
      value:
        '{"id":"1","name":"=cmd()","address":{"city":"Rome"},"n":9007199254740993,' +
        '"at":"2026-01-31T12:00:00Z","tags":[1,2]}',
    },
    { kind: 'refused', line: 3, column: 5, field: 'n', why: '"x" is not a number like 12.5.' },
    { kind: 'refused', line: 4, column: 3, why: '2 fields, not 6.' },
    {
      kind: 'document',
      line: 5,
      value: '{"id":"4","name":"","address":{"city":null},"n":null,"at":null,"tags":null}',
    },
  ]);
});

test('documents: values of BSON, empty fields left out', () => {
  const text = '_id,n,a.b\n65f0c0ffee0123456789abcd,5,\n';
  const options = { ...guessCsv(text, 'mongo'), empty: 'absent' as const };
  const found = csvReader(options, 'mongo', finishDocument).push(text);
  expect(found.map((one) => (one.kind === 'document' ? one.value : one))).toEqual([
    { _id: ObjectId.createFromHexString('65f0c0ffee0123456789abcd'), n: new Int32(5) },
  ]);
});

test.each([
  ['a,a\n1,2', /two columns are called a/],
  ['a,a.b\n1,2', /part of another column/],
  ['a.b,a\n1,2', /one is part of the other/],
])('%j has columns in each other', (text, why) => {
  const reader = csvReader(guessCsv(text, 'nosql'), 'nosql', finishItem);
  const found = [...reader.push(text), ...reader.end()];
  expect(found).toEqual([
    { kind: 'refused', line: 1, column: 1, why: expect.stringMatching(why) as unknown },
  ]);
});

test('a formula is guarded, and is itself again when it is read', () => {
  const next = texts(8, "'=+-@\t\rab");
  for (let round = 0; round < 2000; round += 1) {
    const text = next(5);
    expect(guarded(text)).not.toMatch(/^[=+\-@\t\r]/);
    expect(unguarded(guarded(text))).toBe(text);
  }
});

test('a date of a document is an instant', () => {
  expect(cellOf({ text: '2026-02-30', quoted: false }, 'date', 'mongo')).toHaveProperty('why');
  expect(cellOf({ text: 'NaN', quoted: false }, 'number', 'nosql')).toHaveProperty('why');
});
