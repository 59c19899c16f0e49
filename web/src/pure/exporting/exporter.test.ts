import {
  Binary,
  BSONRegExp,
  BSONSymbol,
  Code,
  Decimal128,
  type Document,
  Double,
  Int32,
  Long,
  MaxKey,
  MinKey,
  ObjectId,
  serialize,
  Timestamp,
} from 'bson';
import { expect, test } from 'vitest';
import { columnsOf } from '../columns/columns';
import { dateOf } from '../farDate';
import { csvReader, guessCsv } from '../importing/csv';
import { readerOf } from '../importing/file';
import { type Finish, finishDocument, finishItem } from '../importing/finish';
import { readAll } from '../importing/testing';
import { numbers, texts } from '../testing/random';
import type { Api } from '../values/compare';
import { compareValues } from '../values/compare';
import {
  arrayExporter,
  cellsOfDocument,
  cellsOfItem,
  csvExporter,
  csvPaths,
  type Exporter,
  linesExporter,
} from './exporter';
import { documentText } from './extended';
import { itemText } from './item';

function written<T>(exporter: Exporter<T>, documents: readonly T[]): string {
  return (
    exporter.begin() + documents.map((one) => exporter.document(one)).join('') + exporter.end()
  );
}

function values<T>(text: string, kind: 'json' | 'lines', api: Api, finish: Finish<T>): unknown[] {
  return readAll(readerOf({ kind }, api, finish), text).map((one) =>
    one.kind === 'document' ? one.value : one,
  );
}

const next = numbers(11);
const text = texts(12, 'ab"\\,\n\r\t\u0001é😀=\'{}[]:0 ');

const SCALARS: (() => unknown)[] = [
  () => null,
  () => next(2) === 0,
  () => new Int32(next(2 ** 32) - 2 ** 31),
  () => Long.fromBits(next(2 ** 32), next(2 ** 32)),
  () => new Double([5, -0, 1e300, 2.5, Number.NaN, -Infinity, next(1e9) / 7][next(7)] ?? 0),
  () => Decimal128.fromString(`${next(1e9)}.${next(1e9)}E${next(40)}`),
  () => text(8),
  () => new Date(next(2 ** 32) * 2000 - 2 ** 40),
  () => ObjectId.createFromTime(next(2 ** 32)),
  () => Binary.createFromHexString('00ff7f', next(6)),
  () => new Timestamp({ t: next(2 ** 31), i: next(2 ** 31) }),
  () => new BSONRegExp(text(4).replace(/\0/g, ''), 'im'),
  () => new Code(text(5), next(2) === 0 ? { n: new Int32(1) } : null),
  () => new BSONSymbol(text(3)),
  () => new MinKey(),
  () => new MaxKey(),
];

function value(depth: number): unknown {
  const kind = next(depth > 0 ? SCALARS.length + 2 : SCALARS.length);
  if (kind === SCALARS.length) return Array.from({ length: next(3) }, () => value(depth - 1));
  return kind > SCALARS.length ? object(depth - 1) : (SCALARS[kind] as () => unknown)();
}

function object(depth: number): Document {
  const entries = Array.from({ length: next(4) }, () => [`k${text(3)}`, value(depth)] as const);
  return Object.fromEntries(entries);
}

const someDocuments = () =>
  Array.from({ length: next(5) }, (): Document => ({ _id: value(0), ...object(2) }));

test('canonical Extended JSON reads back, types and all', () => {
  for (let round = 0; round < 150; round += 1) {
    const documents = someDocuments();
    const write = (one: Document) => documentText(one, 'canonical');
    for (const [exporter, kind] of [
      [arrayExporter(write), 'json'],
      [linesExporter(write), 'lines'],
    ] as const) {
      const read = values(written(exporter, documents), kind, 'mongo', finishDocument);
      expect(read.map((one) => serialize(one as Document))).toEqual(
        documents.map((one) => serialize(one)),
      );
    }
  }
});

test('relaxed Extended JSON reads back to equal values', () => {
  for (let round = 0; round < 150; round += 1) {
    const documents = someDocuments();
    const exporter = linesExporter((one: Document) => documentText(one, 'relaxed'));
    const read = values(written(exporter, documents), 'lines', 'mongo', finishDocument);
    expect(read.length).toBe(documents.length);
    read.forEach((one, at) => {
      expect(compareValues(one, documents[at], 'mongo')).toBe(0);
    });
  }
});

test('relaxed text of doubles and longs', () => {
  const document = { d: new Double(5), l: Long.fromString('9007199254740993'), n: new Double(NaN) };
  expect(documentText(document, 'relaxed')).toBe(
    '{"d":5.0,"l":9007199254740993,"n":{"$numberDouble":"NaN"}}',
  );
});

test('items keep their characters, without what the server sets', () => {
  const item =
    '{ "id": "1", "n": 9007199254740993, "x": 2.0, "_ts": 5, "_etag": "e", "a": {"_ts": 1} }';
  const plain = '{"id":"1","n":9007199254740993,"x":2.0,"a":{"_ts":1}}';
  expect(itemText(item, false)).toBe(plain);
  const exporter = arrayExporter((one: string) => itemText(one, true));
  expect(values(written(exporter, [item, plain]), 'json', 'nosql', finishItem)).toEqual([
    itemText(item, true),
    plain,
  ]);
  expect(written(arrayExporter(String), [])).toBe('[]\n');
});

test('CSV of items reads back', () => {
  const word = texts(21, 'ab"\\,\n\r\t=\'{}[]0 -é');
  for (let round = 0; round < 200; round += 1) {
    const items = Array.from({ length: 1 + next(5) }, (_, at) =>
      JSON.stringify({
        id: `i${at}${word(6)}`,
        'a.b': word(5),
        n: next(1e9) / 8,
        on: next(2) === 0,
        list: [word(3), { x: 1 }],
        in: { deep: { city: word(9), none: null } },
      }),
    );
    const columns = columnsOf(
      items.map((one) => JSON.parse(one) as unknown),
      'id',
    );
    const paths = csvPaths(columns);
    expect(paths).toEqual(['id', 'a\\.b', 'n', 'on', 'list', 'in.deep.city', 'in.deep.none']);
    const exporter = csvExporter({ paths, delimiter: ';', guard: true }, cellsOfItem);
    const file = written(exporter, items);
    const guessed = guessCsv(file, 'nosql');
    const types = ['text', 'text', 'number', 'boolean', 'json', 'text', 'text'] as const;
    const chosen = guessed.columns.map((one, at) => ({ ...one, type: types[at] ?? 'text' }));
    const reader = csvReader({ ...guessed, columns: chosen }, 'nosql', finishItem);
    expect(readAll(reader, file).map((one) => one.kind === 'document' && one.value)).toEqual(items);
  }
});

test('CSV of documents reads back with the types that are guessed', () => {
  const documents = [
    { _id: new ObjectId(), t: '=1+1', n: new Int32(5), at: new Date(5), in: { d: new Double(2) } },
    {
      _id: new ObjectId(),
      t: '007',
      n: Long.fromString('-9007199254740993'),
      in: { d: new Double(0.5) },
    },
  ];
  const paths = csvPaths(columnsOf(documents, '_id'));
  const file = written(
    csvExporter({ paths, delimiter: ',', guard: true }, cellsOfDocument),
    documents,
  );
  expect(file.split('\r\n')[1]).toContain(`"'=1+1",5,2.0,1970-01-01T00:00:00.005Z`);
  const options = { ...guessCsv(file, 'mongo'), empty: 'absent' as const };
  const read = readAll(csvReader(options, 'mongo', finishDocument), file);
  const order = ({ _id, t, n, in: held, at }: Document) => ({
    _id,
    t,
    n,
    in: held,
    ...(at && { at }),
  });
  expect(read.map((one) => one.kind === 'document' && serialize(one.value))).toEqual(
    documents.map((one) => serialize(order(one))),
  );
});

test('a field that is an object in some documents only is one column', () => {
  const columns = columnsOf(
    [
      { id: '1', a: { b: 1 } },
      { id: '2', a: 5 },
    ],
    'id',
  );
  expect(csvPaths(columns)).toEqual(['id', 'a']);
  const exporter = csvExporter({ paths: ['a'], delimiter: ',', guard: false }, cellsOfItem);
  expect(written(exporter, ['{"a":{"b":1}}', '{"a":5}', '{}'])).toBe(
    'a\r\n"{""b"":1}"\r\n5\r\n""\r\n',
  );
});

test('dates beyond those of JavaScript keep their milliseconds', () => {
  const document = { at: [dateOf(2n ** 63n - 1n)], near: new Date(0) };
  const far = '[{"$date":{"$numberLong":"9223372036854775807"}}]';
  expect(documentText(document, 'relaxed')).toBe(
    `{"at":${far},"near":{"$date":"1970-01-01T00:00:00Z"}}`,
  );
  expect(documentText(document, 'canonical')).toBe(
    `{"at":${far},"near":{"$date":{"$numberLong":"0"}}}`,
  );
});
