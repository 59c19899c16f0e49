import { expect, test } from 'vitest';
import page from '../../../../docs/compat/mongodb.md?raw';
import { numbers } from '../testing/random';
import type { SampledField } from './candidates';
import { completeMongo, type MongoText } from './mongo';
import * as words from './mongoWords';

const FIELDS: SampledField[] = [
  { parts: ['_id'], share: 1, kind: 'objectId' },
  { parts: ['user'], share: 0.9, kind: 'string' },
  { parts: ['address', 'city'], share: 0.5, kind: 'string', values: ['"Ulm"', '"Bonn"'] },
  { parts: ['age'], share: 0.1, kind: 'int', values: ['5', '51', 'NumberLong("9")'] },
];

function at(kind: MongoText, marked: string) {
  const place = marked.indexOf('|');
  const found = completeMongo(kind, marked.replace('|', ''), place, FIELDS);
  return found === null ? null : { ...found, labels: found.candidates.map(({ label }) => label) };
}

test.each([
  ['Filters', words.FILTERS],
  ['Updates', words.UPDATES],
  ['Modifiers in updates', words.MODIFIERS],
  ['Pipeline stages', words.STAGES],
  ['Accumulators', words.ACCUMULATORS],
  ['Expressions', words.EXPRESSIONS],
  ['Projections', words.PROJECTIONS],
])('%s are those that the server has', (title, names) => {
  const section = page.split(`## ${title}\n`)[1]?.split('\n## ')[0] ?? '';
  const rows = section.matchAll(/^\| `(\$[A-Za-z0-9]+)` \| (?:works|differs)/gm);
  expect(names).toEqual([...new Set([...rows].map(([, name]) => name))]);
});

test.each<[MongoText, string, string[]]>([
  ['filter', '{ us|', ['user']],
  ['filter', '{ user: { $gt|', ['$gt', '$gte']],
  ['filter', '{ $o|', ['$or']],
  ['filter', '{ $or: [{ us|', ['user']],
  ['filter', '{ a: { $elemMatch: { us|', ['user']],
  ['filter', '{ $expr: { $toUp|', ['$toUpper']],
  ['filter', '{ $expr: { $eq: ["$us|', ['$user']],
  ['filter', '{ "address.ci|', ['address.city']],
  ['filter', '{ user: "x", /* { */ _i|', ['_id']],
  ['sort', '{ us|', ['user']],
  ['projection', '{ tags: { $sli|', ['$slice']],
  ['update', '{ $curr|', ['$currentDate']],
  ['update', '{ $set: { us|', ['user']],
  ['update', '{ $push: { tags: { $pos|', ['$position']],
  ['update', '[{ $unse|', ['$unset']],
  ['filter', '{ age: |', ['5', '51', 'NumberLong("9")']],
  ['filter', '{ age: 5|', ['5', '51']],
  ['filter', '{ age: { $in: [5, |', ['5', '51', 'NumberLong("9")']],
  ['filter', '{ $or: [{ age: { $gte: 51|', ['51']],
  ['filter', '{ "address.city": "b|', ['Bonn']],
  ['filter', '{ address: { city: |', ['"Ulm"', '"Bonn"']],
  ['pipeline', '[{ $match: { age: |', ['5', '51', 'NumberLong("9")']],
  ['pipeline', '[{ $matc|', ['$match']],
  ['pipeline', '[{ $match: { user: { $nin|', ['$nin']],
  ['pipeline', '[{ $group: { _id: "$us|', ['$user']],
  ['pipeline', '[{ $group: { _id: null, n: { $stdDevP|', ['$stdDevPop']],
  ['pipeline', '[{ $sort: { ci|', ['address.city']],
  ['pipeline', '[{ $set: { a: { $dateTr|', ['$dateTrunc']],
  ['pipeline', '[{ $facet: { a: [{ $unwi|', ['$unwind']],
])('%s %s offers %j', (kind, text, labels) => expect(at(kind, text)?.labels).toEqual(labels));

test.each<[MongoText, string]>([
  ['filter', '|'],
  ['filter', '{ user: "a|'],
  ['filter', '{ user: 5|'],
  ['filter', '{ user: "x" |'],
  ['filter', '{ // us|'],
  ['filter', '{ _id: ObjectId("$us|'],
  ['filter', '{} |'],
  ['filter', '{ age: { $exists: |'],
  ['filter', '{ $expr: { age: |'],
  ['filter', '{ $jsonSchema: { us|'],
  ['filter', '{ $jsonSchema: { user: |'],
  ['pipeline', '[{ $project: { age: |'],
  ['sort', '{ age: |'],
])('%s %s offers nothing', (kind, text) => {
  expect(at(kind, text)?.candidates ?? []).toEqual([]);
});

test('the cursor goes into what is inserted', () => {
  const [first] = at('pipeline', '[{ $mat|')?.candidates ?? [];
  expect(first).toMatchObject({ kind: 'stage', insert: '$match: {  }', cursor: 10 });
  expect(at('filter', '{ user: { $in|')?.candidates[0]).toMatchObject({
    insert: '$in: []',
    cursor: 6,
  });
  expect(at('filter', '{ "$o|')?.candidates[0]).toMatchObject({ insert: '$or', cursor: 3 });
  expect(at('sort', '{ |')?.candidates.map(({ insert }) => insert)).toEqual([
    ...['_id: 1', 'user: 1', '"address.city": 1', 'age: 1'],
  ]);
  // An existing colon and its value are not duplicated.
  expect(at('sort', '{ us|: -1 }')?.candidates[0]).toMatchObject({ insert: 'user', cursor: 4 });
  expect(at('filter', '{ cit| : "x" }')?.candidates[0]).toMatchObject({
    insert: '"address.city"',
  });
  expect(at('filter', '{ user: { $i|: [] } }')?.candidates[0]).toMatchObject({ insert: '$in' });
});

/** Returns the text after accepting the first candidate; `|` marks the cursor. */
function taken(kind: MongoText, marked: string): string {
  const found = at(kind, marked);
  const [first] = found?.candidates ?? [];
  if (found === null || first === undefined) throw new Error(`nothing is offered in ${marked}`);
  const text = marked.replace('|', '');
  const { insert, cursor } = first;
  const put = `${insert.slice(0, cursor)}|${insert.slice(cursor)}`;
  return text.slice(0, found.from) + put + text.slice(found.to);
}

test.each<[MongoText, string, string]>([
  ['filter', '{ us|: 1 }', '{ user|: 1 }'],
  ['filter', '{ us|er: 1 }', '{ user|: 1 }'],
  ['filter', '{ us|ername : 1 }', '{ user| : 1 }'],
  ['filter', '{ us|er }', '{ user: | }'],
  ['filter', '{ "us|": 1 }', '{ "user|": 1 }'],
  ['filter', '{ "us|er": 1 }', '{ "user|": 1 }'],
  ['filter', "{ 'address.c|ountry': 1 }", "{ 'address.city|': 1 }"],
  ['filter', '{ address.c|ountry: 1 }', '{ "address.city"|: 1 }'],
  ['filter', '{ "us|, age: "x" }', '{ "user|, age: "x" }'],
  ['filter', '{ user: { $g|te: 5 } }', '{ user: { $gt|: 5 } }'],
  ['filter', '{ "address.city": "U|" }', '{ "address.city": "Ulm|" }'],
  ['filter', '{ "address.city": "U|lm" }', '{ "address.city": "Ulm|" }'],
  ['filter', '{ "address.city": "U|, x: "y" }', '{ "address.city": "Ulm"|, x: "y" }'],
  ['filter', '{ age: 5|7 }', '{ age: 5| }'],
  ['filter', '{ $expr: { $eq: ["$us|erid", 1] } }', '{ $expr: { $eq: ["$user|", 1] } }'],
  ['pipeline', '[{ $mat|ch: { user: 1 } }]', '[{ $match|: { user: 1 } }]'],
])('%s %s becomes %s', (kind, text, want) => expect(taken(kind, text)).toBe(want));

test('whatever the text, what is replaced is within it and before the place', () => {
  const next = numbers(9);
  const pieces = [
    '{',
    '}',
    '[',
    ']',
    '"',
    "'",
    '$',
    'user',
    ':',
    ',',
    ' ',
    '\n',
    '(',
    ')',
    '//',
    '/*',
    '\\',
  ];
  for (let round = 0; round < 3000; round += 1) {
    const text = Array.from({ length: next(12) }, () => pieces[next(pieces.length)]).join('');
    const place = next(text.length + 1);
    const found = completeMongo(round % 2 ? 'filter' : 'pipeline', text, place, FIELDS);
    if (found === null) continue;
    expect(found.to).toBeGreaterThanOrEqual(place);
    expect(found.to).toBeLessThanOrEqual(text.length);
    expect(found.from).toBeGreaterThanOrEqual(0);
    expect(found.from).toBeLessThanOrEqual(place);
    for (const { insert, cursor } of found.candidates) {
      expect(cursor).toBeGreaterThanOrEqual(0);
      expect(cursor).toBeLessThanOrEqual(insert.length);
    }
  }
});
