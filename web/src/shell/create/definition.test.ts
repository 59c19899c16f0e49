import { describe, expect, test } from 'vitest';
import { draftOf, type TtlDraft } from '../../pure/ttl/input';
import {
  type ContainerForm,
  completedPaths,
  containerOf,
  FormError,
  readCollection,
  readId,
  readMongoDatabase,
  readPaths,
  readThroughput,
  readTtl,
  wrongFields,
} from './definition';

const on = (text: string): TtlDraft => ({ option: 'on', text, unit: 'second' });

/** Returns the invalid fields. */
function wrongIn(read: () => unknown): string {
  try {
    read();
  } catch (error) {
    return (wrongFields(error) ?? []).map(({ field }) => field).join(' ');
  }
  return '';
}

const id = (text: string) => readId('name', 'id', text);

test.each<[string, (text: string) => string, string, boolean]>([
  ['id', id, 'a b.%é日', true],
  ['id', id, 'é'.repeat(255), true],
  ['id', id, 'é'.repeat(256), false],
  ['id', id, '', false],
  ['id', id, 'a/b', false],
  ['id', id, 'a\\b', false],
  ['id', id, 'a?', false],
  ['id', id, '#', false],
  ['id', id, 'a ', false],
  ['database', readMongoDatabase, 'a-b_é', true],
  ['database', readMongoDatabase, 'é'.repeat(32), false],
  ['database', readMongoDatabase, '', false],
  ['database', readMongoDatabase, 'a.b', false],
  ['database', readMongoDatabase, 'a b', false],
  ['database', readMongoDatabase, 'a$', false],
  ['collection', readCollection, 'a.b /c', true],
  ['collection', readCollection, '.a', false],
  ['collection', readCollection, 'a$b', false],
  ['collection', readCollection, '', false],
])('as %s %o of "%s": %s', (_, read, text, good) => {
  if (good) expect(read(text)).toBe(text);
  else expect(() => read(text)).toThrow(/^(Enter|A name cannot) /);
});

describe('time to live', () => {
  test.each([
    [{ ...on('whatever'), option: 'off' }, undefined],
    [{ ...on(''), option: 'on-nodefault' }, -1],
    [on('1'), 1],
    [on(' 7776000 '), 7_776_000],
    [on('2147483647'), 2_147_483_647],
    [on('36h'), 129_600],
    [{ ...on('15'), unit: 'minute' }, 900],
  ] as const)('%o is %s', (draft, want) => {
    expect(readTtl(draft)).toBe(want);
  });
  test.each(['', '0', '-1', '-5', '1.5', '1e3', 'ten', '2147483648', '0x10'])(
    '"%s" is refused',
    (text) => {
      expect(() => readTtl(on(text))).toThrow(FormError);
    },
  );
});

test.each([
  ['/user', ['/user']],
  ['user', ['/user']],
  [' /tenant , /user/id,', ['/tenant', '/user/id']],
  [' , ', []],
])('"%s" are paths', (text, want) => expect(readPaths(text)).toEqual(want));

test.each([
  ['', null],
  ['/user', null],
  ['/tenant, /user/id,', null],
  ['pk', '/pk'],
  ['/tenant, user', '/tenant, /user'],
])('of "%s" is said to become %o', (text, want) => expect(completedPaths(text)).toBe(want));

test.each([
  ['', undefined],
  ['400', 400],
])('"%s" is a throughput', (text, want) => expect(readThroughput(text)).toBe(want));
test.each(['0', '-400', 'a', '1.5'])('"%s" is no throughput', (text) => {
  expect(() => readThroughput(text)).toThrow('whole number');
});

describe('a container', () => {
  const form: ContainerForm = { name: 'c', key: '/user', ttl: draftOf(null), unique: '' };
  const partitionKey = { paths: ['/user'], kind: 'Hash', version: 2 };
  test.each<[string, Partial<ContainerForm>, unknown]>([
    ['with TTL off has no defaultTtl', {}, { id: 'c', partitionKey }],
    ['without a default', { ttl: draftOf(-1) }, { id: 'c', partitionKey, defaultTtl: -1 }],
    ['with seconds', { ttl: on('60') }, { id: 'c', partitionKey, defaultTtl: 60 }],
    [
      'with a hierarchical key',
      { key: '/a,/b' },
      { id: 'c', partitionKey: { paths: ['/a', '/b'], kind: 'MultiHash', version: 2 } },
    ],
    [
      'with unique keys',
      { unique: '/mail\n\n /a, /b ' },
      {
        id: 'c',
        partitionKey,
        uniqueKeyPolicy: { uniqueKeys: [{ paths: ['/mail'] }, { paths: ['/a', '/b'] }] },
      },
    ],
  ])('%s', (_, change, want) => expect(containerOf({ ...form, ...change })).toEqual(want));

  test.each<[Partial<ContainerForm>, string]>([
    [{ name: '' }, 'name'],
    [{ key: ' ' }, 'key'],
    [{ name: 'a/b' }, 'name'],
    [{ ttl: on('x') }, 'seconds'],
    [{ name: 'a ', key: ',', ttl: on('') }, 'name key seconds'],
  ])('%o is wrong in its %s', (change, fields) => {
    const wrong = wrongIn(() => containerOf({ ...form, ...change }));
    expect(wrong).toBe(fields);
  });
});
