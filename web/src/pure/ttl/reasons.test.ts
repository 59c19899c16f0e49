import { Decimal128, Double, Int32, Long, Timestamp } from 'bson';
import { expect, test } from 'vitest';
import {
  type Default,
  type DocumentFacts,
  expiryOfDocument,
  expiryOfItem,
  extended,
  meaningOfBson,
  meaningOfJson,
  outlook,
  whyNotTtl,
} from './reasons';

const WRITTEN = 1000;
const lives = (reason: string) => ({ expiresAtMs: null, by: null, reason });
const dies = (after: number, by: string, reason: string | null = null) => ({
  expiresAtMs: (WRITTEN + after) * 1000,
  by,
  reason,
});

const WHY: [ttl: string, why: string][] = [
  ['20.5', '20.5 is not a whole number'],
  ['0', '0 is neither -1 nor positive'],
  ['-5', '-5 is neither -1 nor positive'],
  ['-0', '-0 is neither -1 nor positive'],
  ['2147483648', '2147483648 is larger than 2147483647'],
  ['9007199254740993', '9007199254740993 is larger than 2147483647'],
  ['1e400', '1e400 is not a whole number'],
  ['"20"', '"20" is not a number'],
  ['null', 'null is not a number'],
  ['true', 'true is not a number'],
];

test.each<[ttl: string | null, value: Default, want: unknown]>([
  [null, null, lives('never (TTL is off)')],
  ['-1', null, lives('ttl ignored: TTL is off')],
  ['20', null, lives('ttl ignored: TTL is off')],
  ['20.5', null, lives('ttl ignored: TTL is off')],
  [null, -1, lives('never (no default)')],
  ['-1', -1, lives('never (ttl = -1)')],
  ['20', -1, dies(20, 'ttl')],
  [null, 60, dies(60, 'default')],
  ['-1', 60, lives('never (ttl = -1)')],
  ['20', 60, dies(20, 'ttl')],
  ['20.0', 60, dies(20, 'ttl')],
  ['2e1', 60, dies(20, 'ttl')],
  ['-1.0', 60, lives('never (ttl = -1)')],
  ['2147483647', 60, dies(2147483647, 'ttl')],
  ...WHY.map(([ttl, why]): [string, Default, unknown] => [
    ttl,
    -1,
    lives(`ttl ignored: ${why}; never (no default)`),
  ]),
  ...WHY.map(([ttl, why]): [string, Default, unknown] => [
    ttl,
    60,
    dies(60, 'default', `ttl ignored: ${why}; expires by the default`),
  ]),
])('item with ttl %s, default %s', (ttl, value, want) => {
  expect(expiryOfItem(meaningOfJson(ttl), WRITTEN, value)).toEqual(want);
});

test.each<[value: unknown, want: unknown]>([
  [undefined, { kind: 'absent' }],
  [new Int32(20), { kind: 'seconds', seconds: 20 }],
  [new Int32(-1), { kind: 'never' }],
  [Long.fromNumber(20), { kind: 'seconds', seconds: 20 }],
  [new Double(20), { kind: 'seconds', seconds: 20 }],
  [new Double(-1), { kind: 'never' }],
  ...(
    [
      [new Double(20.5), '20.5 is not a whole number'],
      [Long.fromString('2147483649'), '2147483649 is larger than 2147483647'],
      [new Int32(0), '0 is neither -1 nor positive'],
      [new Double(-0), '-0.0 is neither -1 nor positive'],
      [new Int32(-5), '-5 is neither -1 nor positive'],
      ['20', '"20" is not an int, long or double'],
      [null, 'null is not an int, long or double'],
      [new Double(Number.NaN), 'NaN is not a whole number'],
      [new Double(Infinity), 'Infinity is not a whole number'],
      [Decimal128.fromString('20'), 'NumberDecimal("20") is not an int, long or double'],
      [new Date(0), 'ISODate("1970-01-01T00:00:00.000Z") is not an i…'],
      [new Timestamp({ t: 0, i: 20 }), 'Timestamp({ t: 0, i: 20 }) is not an int, long or double'],
    ] as [unknown, string][]
  ).map(([value, why]): [unknown, unknown] => [
    value,
    {
      kind: 'meaningless',
      why: why.endsWith('…')
        ? expect.stringContaining('ISODate("1970-01-01T00:00:00.000Z") is not')
        : why,
    },
  ]),
])('ttl of a document: %s', (value, want) => expect(meaningOfBson(value)).toEqual(want));

const inherit: DocumentFacts = { class: 'inherit', expiresAtMs: null, by: null };
const never: DocumentFacts = { class: 'never', expiresAtMs: null, by: null };
const explicit: DocumentFacts = { class: 'explicit', expiresAtMs: null, by: null };
const dead = (facts: DocumentFacts, by: string): DocumentFacts => ({
  ...facts,
  expiresAtMs: 5000,
  by,
});
const at5 = (by: string, reason: string | null = null) => ({ expiresAtMs: 5000, by, reason });

test.each<[ttl: unknown, facts: DocumentFacts, value: Default, want: unknown]>([
  [undefined, inherit, null, lives('never (TTL is off)')],
  [new Int32(20), explicit, null, lives('ttl ignored: TTL is off')],
  [new Int32(-1), never, null, lives('ttl ignored: TTL is off')],
  ['20', inherit, null, lives('ttl ignored: TTL is off')],
  [undefined, inherit, -1, lives('never (no default)')],
  [new Int32(-1), never, -1, lives('never (ttl = -1)')],
  [new Int32(20), dead(explicit, 'ttl'), -1, at5('ttl')],
  [undefined, dead(inherit, 'default'), 60, at5('default')],
  [new Int32(-1), never, 60, lives('never (ttl = -1)')],
  [new Int32(20), dead(explicit, 'ttl'), 60, at5('ttl')],
  [
    new Double(20.5),
    inherit,
    -1,
    lives('ttl ignored: 20.5 is not a whole number; never (no default)'),
  ],
  [
    new Double(20.5),
    dead(inherit, 'default'),
    60,
    at5('default', 'ttl ignored: 20.5 is not a whole number; expires by the default'),
  ],
  [
    new Int32(20),
    inherit,
    -1,
    lives('ttl ignored: written while per-document TTL was off; never (no default)'),
  ],
  [
    new Int32(20),
    dead(inherit, 'default'),
    60,
    at5('default', 'ttl ignored: written while per-document TTL was off; expires by the default'),
  ],
  [undefined, dead(inherit, 'at_1'), null, at5('at_1', 'by index at_1')],
  [new Int32(-1), dead(never, 'at_1'), 60, at5('at_1', 'by index at_1')],
])('document with ttl %s, %o, default %s', (ttl, facts, value, want) => {
  expect(expiryOfDocument(meaningOfBson(ttl), facts, value)).toEqual(want);
});

test.each<
  [ttl: string | null, value: Default, strict: boolean, perDocument: boolean, want: unknown]
>([
  [
    '20.5',
    60,
    true,
    true,
    { refused: 'ttl: 20.5 is not a whole number; it must be -1 or from 1 to 2147483647.' },
  ],
  ['20.5', null, true, true, { seconds: null, words: 'ttl ignored: TTL is off' }],
  [
    '20.5',
    60,
    false,
    true,
    { seconds: 60, words: 'ttl ignored: 20.5 is not a whole number; expires by the default' },
  ],
  [
    '20',
    60,
    false,
    false,
    { seconds: 60, words: 'ttl ignored: per-document TTL is off; expires by the default' },
  ],
  ['20', 60, true, false, { refused: null, seconds: 20, words: 'expires by its ttl' }],
  [null, 60, true, true, { seconds: 60, words: 'expires by the default' }],
  [null, null, true, true, { seconds: null, words: 'never (TTL is off)' }],
  ['-1', 60, true, true, { seconds: null, words: 'never (ttl = -1)' }],
])(
  'a save with ttl %s, default %s, strict %s, per document %s',
  (ttl, value, strict, perDocument, want) => {
    expect(outlook(meaningOfJson(ttl), value, strict, perDocument)).toMatchObject(want as object);
  },
);

test('why a ttl cannot be set', () => {
  expect(whyNotTtl(null, true)).toMatch(/TTL is off/);
  expect(whyNotTtl(60, false)).toMatch(/Per-document/);
  expect(whyNotTtl(-1, true)).toBeNull();
});

test('a life is extended from its end', () => {
  // Expires at 1060 s; at 1010.4 s an hour is added.
  expect(extended(1_060_000, 3600, 1_010_400)).toBe(3650);
});
