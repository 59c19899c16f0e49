import { Int32, Long, ObjectId } from 'bson';
import { expect, test } from 'vitest';
import { type JsonNode, readJson } from '../../../pure/json/tree';
import {
  columnsFor,
  fileOf,
  joined,
  keepsIds,
  MONGO_FORM,
  NOSQL_FORM,
  type Results,
  tableColumns,
} from './form';

function nosql(...texts: string[]): Results {
  const rows = texts.map((text) => (readJson(text) as { root: JsonNode }).root);
  const plain = texts.map((text) => JSON.parse(text) as unknown);
  return { form: NOSQL_FORM, rows, plain, keys: texts.map(() => null) };
}

function mongo(...rows: unknown[]): Results {
  return { form: MONGO_FORM, rows, plain: rows, keys: rows.map(() => null) };
}

const file = (results: Results, format: 'JSON' | 'JSON Lines' | 'CSV') =>
  [...fileOf(results, format)].join('');

const idsOf = (results: Results) => tableColumns(results).map(({ id }) => id);

test('columns: objects by their parts, others whole, and a column for what is no object', () => {
  expect(idsOf(nosql('{"id":"a","at":{"x":1}}', '{"id":"b","tags":[1]}'))).toEqual([
    'id',
    'at.x',
    'tags',
  ]);
  expect(idsOf(mongo({ _id: 1, at: { x: 1 } }, { _id: 2, at: 3 }))).toEqual(['_id', 'at', 'at.x']);
  expect(idsOf(nosql('1', '"two"'))).toEqual(['value']);
});

test('what the server sets is apart where whole items were asked for', () => {
  const system = (of: Results) => columnsFor(of).filter(({ isSystem }) => isSystem);
  expect(system(nosql('{"id":"a","_self":"x","_ts":1}')).map(({ id }) => id)).toEqual([
    '_self',
    '_ts',
  ]);
  expect(system(nosql('{"id":"a","_ts":1}'))).toEqual([]);
});

test('numbers stay as they were written', () => {
  const results = nosql('{"n":20.0,"big":9007199254740993}', '2.50');
  expect(file(results, 'JSON Lines')).toBe('{"n":20.0,"big":9007199254740993}\n2.50\n');
  expect(file(results, 'JSON')).toBe('[\n{"n":20.0,"big":9007199254740993},\n2.50\n]\n');
  expect(file(results, 'CSV')).toBe('n,big,value\r\n20.0,9007199254740993,\r\n,,2.50\r\n');
});

test('documents of MongoDB, with formulas guarded', () => {
  const id = new ObjectId('65a000000000000000000001');
  const rows = [{ _id: id, n: new Int32(1), long: Long.fromString('9007199254740993'), s: '=1+1' }];
  expect(file(mongo(...rows), 'CSV')).toBe(
    `_id,n,long,s\r\n${id.toHexString()},1,9007199254740993,"'=1+1"\r\n`,
  );
  expect(file(mongo(...rows), 'JSON Lines')).toBe(
    `{"_id":{"$oid":"${id.toHexString()}"},"n":1,"long":9007199254740993,"s":"=1+1"}\n`,
  );
});

test('pages as one', () => {
  expect(joined([])).toBeNull();
  expect(joined([mongo({ a: 1 }), mongo({ a: 2 })])?.rows).toEqual([{ a: 1 }, { a: 2 }]);
});

test('cells and parts', () => {
  const [row] = nosql('{"a":"x","b":[1,{"c":null}]}').rows;
  expect(NOSQL_FORM.cell(NOSQL_FORM.at(row, ['a']))).toBe('x');
  expect(NOSQL_FORM.cell(NOSQL_FORM.at(row, ['b']))).toBe('[1,{"c":null}]');
  expect(NOSQL_FORM.at(row, ['none'])).toBeUndefined();
  expect(NOSQL_FORM.parts(row)?.map(([name]) => name)).toEqual(['a', 'b']);
  expect(NOSQL_FORM.kind(NOSQL_FORM.at(row, ['b']))).toBe('array');
  expect(MONGO_FORM.parts({ a: [1] })).toEqual([['a', [1]]]);
  expect(MONGO_FORM.parts(new ObjectId())).toBeNull();
  expect(MONGO_FORM.cell(new Int32(7))).toBe('7');
});

test.each([
  [{ find: 'log', filter: {} }, true],
  [{ aggregate: 'log', pipeline: [{ $match: { _id: 'a' } }, { $sort: { n: 1 } }] }, true],
  [{ aggregate: 'log', pipeline: [{ $group: { _id: '$user' } }] }, false],
  [{ aggregate: 'log', pipeline: [{ $project: { _id: '$user' } }] }, false],
  [{ aggregate: 'log', pipeline: [] }, true],
])('%j keeps the ids of documents: %s', (command, keeps) => expect(keepsIds(command)).toBe(keeps));
