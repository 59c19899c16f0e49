import { expect, test } from 'vitest';
import page from '../../../../docs/compat/cosmos-nosql.md?raw';
import { numbers } from '../testing/random';
import { fitOf, type SampledField } from './candidates';
import { aliasesOf, completeSql } from './sql';
import { SQL_FUNCTIONS } from './sqlWords';

const FIELDS: SampledField[] = [
  { parts: ['id'], share: 1, kind: 'string' },
  { parts: ['address'], share: 0.9, kind: 'object' },
  {
    parts: ['address', 'city'],
    share: 0.5,
    kind: 'string',
    values: ['"Ulm"', '"Bonn"', '"a\\"b"'],
  },
  { parts: ['age'], share: 0.004, kind: 'number', values: ['5', '51', 'true'] },
  { parts: ['two words'], share: 1, kind: 'number' },
];

function at(marked: string) {
  const place = marked.indexOf('|');
  const text = marked.replace('|', '');
  const found = completeSql(text, place, FIELDS);
  return found === null ? null : { ...found, labels: found.candidates.map(({ label }) => label) };
}

test('the functions are those that the server has', () => {
  const named = (begin: string) =>
    [...(page.split(begin)[1]?.split('\n')[0] ?? '').matchAll(/`([A-Z_0-9]+)`/g)].map(
      ([, name]) => name,
    );
  const names = (isAggregate: boolean) =>
    SQL_FUNCTIONS.filter((one) => one.isAggregate === isAggregate).map(({ name }) => name);
  expect(names(false)).toEqual(named('\nWork: '));
  expect(names(true)).toEqual(named('\nAggregates that work: '));
});

test.each<[string, string[]]>([
  ['SELECT * FROM c WHERE c.|', ['id', '_ts', '_etag', 'address', 'age']],
  ['SELECT c.ad| FROM c', ['address']],
  ['SELECT * FROM c WHERE c.address.|', ['city']],
  ['SELECT s.address.ci| FROM sessions s', ['city']],
  ['WHERE c.ag|', ['age', '_etag']],
])('%s offers fields', (text, labels) => expect(at(text)?.labels).toEqual(labels));

test.each([
  'SELECT "c.|',
  "WHERE c.name = 'a|b'",
  'SELECT * -- c.|',
  'SELECT t.| FROM c JOIN t IN c.tags',
  'SELECT 12|',
  'SELECT c.id)|',
  'x.|',
  'SELECT "c.age = |',
  '-- c.age = |',
  'WHERE x.age = 1|',
])('%s offers nothing', (text) => expect(at(text)).toBeNull());

test.each<[string, string[]]>([
  ['WHERE c.age = |', ['5', '51', 'true']],
  ['WHERE c.age=5|', ['5', '51']],
  ['WHERE c.age >= tr|', ['true']],
  ['WHERE c.age IN (5, |', ['5', '51', 'true']],
  ['WHERE c.address.city != |', ['"Ulm"', '"Bonn"', '"a\\"b"']],
  ['WHERE c.address.city = "|', ['Ulm', 'Bonn']],
  ["WHERE c.address.city in ('Ulm', 'b|", ['Bonn']],
  ['SELECT * FROM sessions s WHERE s.age = |', ['5', '51', 'true']],
])('%s offers values', (text, labels) => {
  const found = at(text);
  expect(found?.labels).toEqual(labels);
  expect(found?.candidates[0]?.kind).toBe('value');
});

test('a quote that stands there already is not written again', () => {
  expect(at('WHERE c.address.city = "U|')?.candidates[0]).toMatchObject({ insert: 'Ulm"' });
  expect(at('WHERE c.address.city = "U|"')?.candidates[0]).toMatchObject({ insert: 'Ulm' });
});

test.each([
  ['WHERE c.ad|dres = 1', 'WHERE c.address| = 1'],
  ['WHERE c.ad|dress.city = 1', 'WHERE c.address|.city = 1'],
  ['WHERE c.address.city = "U|lm" AND', 'WHERE c.address.city = "Ulm|" AND'],
  ["WHERE c.address.city = 'U|, c.x = 'y'", "WHERE c.address.city = 'Ulm'|, c.x = 'y'"],
  ['WHERE c.age = 5|7', 'WHERE c.age = 5|'],
  ['SEL|ECTED c.age', 'SELECT| c.age'],
  ['WHERE contai|(c.id)', 'WHERE CONTAINS|(c.id)'],
  ['WHERE contai|ns (c.id)', 'WHERE CONTAINS| (c.id)'],
])('%s becomes %s', (marked, want) => {
  const found = at(marked);
  const [first] = found?.candidates ?? [];
  if (found === null || first === undefined) throw new Error(`nothing is offered in ${marked}`);
  const text = marked.replace('|', '');
  const { insert, cursor } = first;
  const put = `${insert.slice(0, cursor)}|${insert.slice(cursor)}`;
  expect(text.slice(0, found.from) + put + text.slice(found.to)).toBe(want);
});

test('words, the best first', () => {
  expect(at('sel|')).toMatchObject({ from: 0, to: 3 });
  expect(at('sel|')?.labels[0]).toBe('SELECT');
  expect(at('SELECT * FROM c ord|')?.candidates[0]).toMatchObject({ insert: 'ORDER BY' });
  expect(at('SELECT * FROM c WHERE array_len|')?.labels).toEqual(['ARRAY_LENGTH']);
  expect(at('SELECT * FROM c WHERE leng|')?.labels).toEqual(['LENGTH', 'ARRAY_LENGTH']);
});

test('the cursor goes between the brackets, behind them where nothing stands in them', () => {
  expect(at('WHERE contains|')?.candidates[0]).toMatchObject({
    insert: 'CONTAINS()',
    cursor: 9,
    detail: '(text, part [, ignoreCase])',
  });
  expect(at('SELECT NOW|')?.candidates[0]).toMatchObject({ insert: 'NOW()', cursor: 5 });
});

test('aliases', () => {
  expect([...aliasesOf('SELECT * FROM c WHERE c.a = 1')]).toEqual([['c', []]]);
  expect([...aliasesOf('SELECT * FROM items AS i JOIN t IN i.tags')]).toEqual([
    ['i', []],
    ['t', null],
  ]);
  expect([...aliasesOf('SELECT * FROM t IN c.tags')]).toEqual([['t', null]]);
  expect([...aliasesOf('WHERE c.a')]).toEqual([['c', []]]);
});

test.each<[string, string, number | null]>([
  ['$gt', '$g', 0],
  ['SELECT', 'se', 1],
  ['$graphLookup', '$look', 2],
  ['ARRAY_LENGTH', 'len', 2],
  ['ENDSWITH', 'swi', 3],
  ['$gt', 'x', null],
  ['$gt', '', 0],
])('%s fits %j: %s', (label, typed, rank) => expect(fitOf(label, typed)).toBe(rank));

test('whatever the text, what is replaced is within it and before the place', () => {
  const next = numbers(4);
  const pieces = [
    'SELECT ',
    'c',
    '.',
    ' ',
    '"',
    "'",
    '--',
    '\n',
    'FROM ',
    '(',
    ')',
    '\\',
    '@p',
    '1',
    'é',
  ];
  for (let round = 0; round < 3000; round += 1) {
    const text = Array.from({ length: next(12) }, () => pieces[next(pieces.length)]).join('');
    const place = next(text.length + 1);
    const found = completeSql(text, place, FIELDS);
    if (found === null) continue;
    expect(found.to).toBeGreaterThanOrEqual(place);
    expect(found.to).toBeLessThanOrEqual(text.length);
    expect(found.from).toBeGreaterThanOrEqual(0);
    expect(found.from).toBeLessThanOrEqual(place);
    for (const { insert, cursor } of found.candidates) {
      expect(cursor).toBeLessThanOrEqual(insert.length);
    }
  }
});
