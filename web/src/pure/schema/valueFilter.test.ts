import { Int32, Long } from 'bson';
import { expect, test } from 'vitest';
import { parseShell, printShell } from '../shell';
import { sampleFacts } from './fields';
import { filterOfValue } from './valueFilter';

test.each<[path: string, text: string, mongo: string | null, nosql: string | null]>([
  ['user', '"ada"', '{ user: "ada" }', 'WHERE c["user"] = "ada"'],
  ['in.city', '"Rome"', '{ "in.city": "Rome" }', 'WHERE c["in"]["city"] = "Rome"'],
  ['a b', 'true', '{ "a b": true }', 'WHERE c["a b"] = true'],
  ['n', '2.5', '{ n: 2.5 }', 'WHERE c["n"] = 2.5'],
  ['n', 'null', '{ n: { $type: "null" } }', 'WHERE c["n"] = null'],
  ['n', 'NaN', '{ n: NaN }', null],
  ['q', '"a\\"b\\n"', '{ q: "a\\"b\\n" }', 'WHERE c["q"] = "a\\"b\\n"'],
  // MongoDB paths cannot name a field with a dot, and truncated values have no filter.
  ['a\\.b', '1', null, 'WHERE c["a.b"] = 1'],
  ['$x', '1', null, 'WHERE c["$x"] = 1'],
  ['t', '"aaaa…', null, null],
])('%s = %s', (path, text, mongo, nosql) => {
  expect(filterOfValue(path, text, 'mongo')).toBe(mongo);
  expect(filterOfValue(path, text, 'nosql')).toBe(nosql);
});

test('types of MongoDB are kept', () => {
  const documents = [{ n: new Long(5) }, { n: new Int32(5) }];
  const [facts] = sampleFacts(documents, 'mongo').fields;
  const filters = facts?.top.map(({ value }) => filterOfValue('n', value, 'mongo'));
  expect(filters).toEqual(documents.map((document) => printShell(document, 0)));
  for (const filter of filters ?? []) expect(parseShell(filter ?? '')).toHaveProperty('value');
});
