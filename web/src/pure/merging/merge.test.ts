import { describe, expect, test } from 'vitest';
import { numbers } from '../testing/random';
import { mergeTexts } from './dialects';
import { type Choices, excerpts } from './merge';

type Rows = [
  path: string,
  before: string | null,
  theirs: string | null,
  mine: string | null,
  by: string,
][];

function merged(
  language: 'json' | 'shell',
  texts: [string, string, string],
  choices: Choices = new Map(),
): { text: string; rows: Rows } {
  const found = mergeTexts(language, texts, choices);
  if ('error' in found) throw new Error(found.error);
  const rows = found.differences.map(({ path, before, theirs, mine, changedBy }): Rows[number] => [
    path,
    before,
    theirs,
    mine,
    changedBy,
  ]);
  return { text: found.text.replace(/\s+/g, ' '), rows };
}

describe('fields of JSON', () => {
  test.each<[string, [string, string, string], string, Rows]>([
    [
      'each side has changed a field of its own',
      ['{"a":1,"b":1}', '{"a":2,"b":1}', '{"a":1,"b":3}'],
      '{ "a": 2, "b": 3 }',
      [
        ['a', '1', '2', '1', 'theirs'],
        ['b', '1', '1', '3', 'mine'],
      ],
    ],
    [
      'fields of fields',
      ['{"a":{"x":1,"y":1}}', '{"a":{"x":2,"y":1}}', '{"a":{"x":1,"y":2}}'],
      '{ "a": { "x": 2, "y": 2 } }',
      [
        ['a.x', '1', '2', '1', 'theirs'],
        ['a.y', '1', '1', '2', 'mine'],
      ],
    ],
    [
      'one was added here, one there, one taken away',
      ['{"a":1,"b":1}', '{"a":1,"b":1,"t":1}', '{"m":1,"a":1}'],
      '{ "m": 1, "a": 1, "t": 1 }',
      [
        ['m', null, null, '1', 'mine'],
        ['b', '1', '1', null, 'mine'],
        ['t', null, '1', null, 'theirs'],
      ],
    ],
    [
      'both alike',
      ['{"a":1}', '{"a":2}', '{"a":2}'],
      '{ "a": 2 }',
      [['a', '1', '2', '2', 'alike']],
    ],
    [
      'an array is one value',
      ['{"a":[1,2]}', '{"a":[1,2,3]}', '{"a":[0,1,2]}'],
      '{ "a": [ 0, 1, 2 ] }',
      [['a', '[1,2]', '[1,2,3]', '[0,1,2]', 'both']],
    ],
    [
      'both have added an object',
      ['{}', '{"a":{"x":1}}', '{"a":{"y":2}}'],
      '{ "a": { "x": 1, "y": 2 } }',
      [
        ['a.x', null, '1', null, 'theirs'],
        ['a.y', null, null, '2', 'mine'],
      ],
    ],
    [
      'objects in place of one value are not mixed',
      ['{"a":1}', '{"a":{"x":1}}', '{"a":{"y":1}}'],
      '{ "a": { "y": 1 } }',
      [['a', '1', '{"x":1}', '{"y":1}', 'both']],
    ],
    [
      'one was taken away that the other has changed',
      ['{"a":{"x":1}}', '{}', '{"a":{"x":2}}'],
      '{ "a": { "x": 2 } }',
      [['a', '{"x":1}', null, '{"x":2}', 'both']],
    ],
    [
      'numbers keep how they were written, texts need not',
      ['{"a":1.0,"b":"é"}', '{"a":1.0,"b":"\\u00e9"}', '{"a":1,"b":"é"}'],
      '{ "a": 1, "b": "é" }',
      [['a', '1.0', '1.0', '1', 'mine']],
    ],
    [
      'a dot in a name',
      ['{"a.b":1}', '{"a.b":2}', '{"a.b":1}'],
      '{ "a.b": 2 }',
      [['a\\.b', '1', '2', '1', 'theirs']],
    ],
  ])('%s', (_, texts, text, rows) => {
    expect(merged('json', texts)).toEqual({ text, rows });
  });

  test('what both have changed is chosen by its path', () => {
    const texts: [string, string, string] = [
      '{"a":{"x":1},"b":1}',
      '{"a":{"x":2},"b":2}',
      '{"a":{"x":3},"b":3}',
    ];
    const all = merged(
      'json',
      texts,
      new Map([
        ['a.x', 'theirs'],
        ['b', 'mine'],
      ]),
    );
    expect(all.text).toBe('{ "a": { "x": 2 }, "b": 3 }');
    expect(all.rows.map(([, , , , by]) => by)).toEqual(['both', 'both']);
    const without = merged('json', ['{"a":1}', '{}', '{"a":2}'], new Map([['a', 'theirs']]));
    expect(without.text).toBe('{}');
  });
});

test('values of BSON keep their types, and differ by them', () => {
  const before = '{ _id: ObjectId("0123456789abcdef01234567"), n: 1, at: ISODate("2026-01-01") }';
  const theirs = before.replace('n: 1', 'n: NumberLong("1")');
  const mine = before.replace('2026-01-01', '2027-01-01');
  const { text, rows } = merged('shell', [before, theirs, mine]);
  expect(text).toBe(
    '{ _id: ObjectId("0123456789abcdef01234567"), n: NumberLong("1"), at: ISODate("2027-01-01T00:00:00.000Z") }',
  );
  expect(rows.map(([path, , , , by]) => [path, by])).toEqual([
    ['n', 'theirs'],
    ['at', 'mine'],
  ]);
  const extended = '{ "v": {"$numberLong": "7"}, "d": {"$date": "2026-01-01T00:00:00Z"} }';
  const other = '{ v: NumberLong("7"), d: ISODate("2026-01-01"), k: {"$numberDecimal": "1.50"} }';
  expect(merged('shell', [extended, extended, other])).toEqual({
    text: '{ v: NumberLong("7"), d: ISODate("2026-01-01T00:00:00.000Z"), k: NumberDecimal("1.50") }',
    rows: [['k', null, null, 'NumberDecimal("1.50")', 'mine']],
  });
});

test('what cannot be read is said with its place', () => {
  expect(mergeTexts('json', ['{}', '{}', '{"a":}'])).toMatchObject({ at: 5 });
  expect(mergeTexts('shell', ['{}', '{}', '[1]'])).toEqual({ error: 'Not an object.', at: 0 });
});

/** Generates an object with few names, so that versions share some. */
function anyObject(next: (bound: number) => number, depth = 0): string {
  const names = ['a', 'b', 'c', '__proto__'].filter(() => next(3) > 0);
  if (next(2) > 0) names.reverse();
  const value = () => {
    const kind = next(depth < 3 ? 4 : 3);
    return kind === 0 ? `[${next(3)}]` : kind === 3 ? anyObject(next, depth + 1) : String(next(3));
  };
  return `{${names.map((name) => `"${name}":${value()}`).join(',')}}`;
}

test.each(['json', 'shell'] as const)('laws of merging, %s', (language) => {
  const next = numbers(language.length);
  const as = (text: string) => merged(language, [text, text, text]).text;
  let conflicts = 0;
  for (let round = 0; round < 400; round += 1) {
    const [before, theirs, mine] = [anyObject(next), anyObject(next), anyObject(next)];
    // If only one side has changes, the merge equals that side.
    expect(merged(language, [before, theirs, before]).text).toBe(as(theirs));
    expect(merged(language, [before, before, mine]).text).toBe(as(mine));
    expect(merged(language, [before, mine, mine]).text).toBe(as(mine));
    // With all conflicts resolved for one side, nothing of the other remains in them.
    const all = merged(language, [before, theirs, mine]);
    const both = all.rows.filter(([, , , , by]) => by === 'both').map(([path]) => path);
    conflicts += both.length;
    const choices = (side: 'theirs' | 'mine') => new Map(both.map((path) => [path, side]));
    const swapped = merged(language, [before, mine, theirs], choices('mine'));
    const chosen = merged(language, [before, theirs, mine], choices('theirs'));
    const sorted = (text: string) => [...text].sort().join('');
    expect(sorted(swapped.text)).toBe(sorted(chosen.text));
  }
  expect(conflicts).toBeGreaterThan(100);
});

test('long texts are shown from where they part', () => {
  expect(excerpts(['1', null, '2'])).toEqual(['1', null, '2']);
  const long = 'x'.repeat(1000);
  const [a, b, c] = excerpts([`${long}A`, `${long}B${long}`, null]);
  expect(a).toBe(`…${'x'.repeat(40)}A`);
  expect(b).toBe(`…${'x'.repeat(40)}B${'x'.repeat(199)}…`);
  expect(c).toBeNull();
  expect(excerpts([null, long, null])[1]).toBe(`${'x'.repeat(240)}…`);
});
