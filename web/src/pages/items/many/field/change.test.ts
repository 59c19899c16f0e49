import { Double, Int32 } from 'bson';
import { expect, test } from 'vitest';
import {
  type FieldChange,
  isInexact,
  planned,
  takingBack,
  touched,
  whyNotPath,
  whyNotRenamed,
} from './change';

const nosql = { api: 'nosql', idField: 'id', keys: ['/tenant/id', '/kind'] } as const;
const mongo = { api: 'mongo', idField: '_id', keys: [] } as const;

test.each([
  [nosql, 'id', /cannot be changed/],
  [nosql, '_etag', /set by the server/],
  [nosql, 'tenant', /partition key/],
  [nosql, 'tenant.id.x', /partition key/],
  [nosql, 'kind', /partition key/],
  [nosql, 'ttl', /Set ttl/],
  [nosql, 'a..b', /empty/],
  [mongo, '_id.x', /cannot be changed/],
  [mongo, '_ts', /set by the server/],
  [mongo, 'a.$b', /dollar/],
  [nosql, 'tenant.name', null],
  [nosql, 'a.$b', null],
  [mongo, '_etag', null],
] as const)('%o %s', (rules, path, why) => {
  const said = whyNotPath(path.split('.'), rules);
  if (why === null) expect(said).toBeNull();
  else expect(said).toMatch(why);
});

test('a field is not moved into itself, nor to a place that is not its to have', () => {
  expect(whyNotRenamed(['a'], ['a', 'b'], mongo)).toMatch(/itself/);
  expect(whyNotRenamed(['a', 'b'], ['a'], mongo)).toMatch(/itself/);
  expect(whyNotRenamed(['a'], ['_id'], mongo)).toMatch(/cannot be changed/);
  expect(whyNotRenamed(['a', 'b'], ['a', 'c'], mongo)).toBeNull();
});

const DOCUMENT = { _id: 1, a: { b: 1, c: 2 }, list: [1], n: new Int32(5) };

test.each<[FieldChange, unknown]>([
  [{ does: 'set', path: ['a', 'b'], value: 'x' }, { to: { ...DOCUMENT, a: { b: 'x', c: 2 } } }],
  [{ does: 'set', path: ['x', 'y'], value: 1 }, { to: { ...DOCUMENT, x: { y: 1 } } }],
  [{ does: 'set', path: ['n'], value: new Int32(5) }, { same: true }],
  [{ does: 'set', path: ['n'], value: new Double(5) }, { to: { ...DOCUMENT, n: new Double(5) } }],
  [{ does: 'remove', path: ['a', 'b'] }, { to: { ...DOCUMENT, a: { c: 2 } } }],
  [{ does: 'remove', path: ['a', 'x'] }, { same: true }],
  [
    { does: 'rename', path: ['a', 'b'], to: ['d', 'e'] },
    { to: { ...DOCUMENT, a: { c: 2 }, d: { e: 1 } } },
  ],
  [{ does: 'rename', path: ['x'], to: ['y'] }, { same: true }],
])('%j', (change, wanted) => expect(planned(DOCUMENT, change)).toEqual(wanted));

test('only objects have fields', () => {
  const change = { does: 'set', path: ['list', '0'], value: 1 } as const;
  expect(planned(DOCUMENT, change)).toEqual({
    error: expect.stringMatching(/^list holds a value of type array/) as string,
  });
  const moved = { does: 'rename', path: ['a', 'b'], to: ['n', 'x'] } as const;
  expect(planned(DOCUMENT, moved)).toEqual({ error: expect.stringMatching(/^n holds/) as string });
});

test('every change is taken back', () => {
  const changes: FieldChange[] = [
    { does: 'set', path: ['a', 'b'], value: 'x' },
    { does: 'set', path: ['x', 'y', 'z'], value: 1 },
    { does: 'remove', path: ['a', 'b'] },
    { does: 'rename', path: ['a', 'b'], to: ['d', 'e'] },
    { does: 'rename', path: ['n'], to: ['list'] },
  ];
  for (const change of changes) {
    let now = planned(DOCUMENT, change);
    for (const back of takingBack(DOCUMENT, touched(change)))
      if ('to' in now) now = planned(now.to, back);
    expect(now).toEqual({ to: DOCUMENT });
  }
});

test('numbers that lose digits are found at any depth', () => {
  expect(isInexact({ a: [1, { b: 2 ** 53 }] })).toBe(true);
  expect(isInexact({ a: [1, 0.1, 'x', null] })).toBe(false);
});
