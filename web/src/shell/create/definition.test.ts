import { describe, expect, test } from 'vitest';
import { type ContainerForm, containerOf, readPaths, readThroughput, readTtl } from './definition';

describe('time to live', () => {
  test.each([
    ['off', 'whatever', undefined],
    ['no-default', '', -1],
    ['on', '1', 1],
    ['on', ' 7776000 ', 7_776_000],
    ['on', '2147483647', 2_147_483_647],
  ] as const)('%s with "%s" is %s', (choice, seconds, want) => {
    expect(readTtl(choice, seconds)).toBe(want);
  });
  test.each(['', '0', '-1', '-5', '1.5', '1e3', 'ten', '2147483648', '0x10'])(
    '"%s" is refused',
    (text) => {
      expect(() => readTtl('on', text)).toThrow(/^Give a/);
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
  ['', undefined],
  ['400', 400],
])('"%s" is a throughput', (text, want) => expect(readThroughput(text)).toBe(want));
test.each(['0', '-400', 'a', '1.5'])('"%s" is no throughput', (text) => {
  expect(() => readThroughput(text)).toThrow('whole number');
});

describe('a container', () => {
  const form: ContainerForm = { name: 'c', key: '/user', ttl: 'off', seconds: '', unique: '' };
  const partitionKey = { paths: ['/user'], kind: 'Hash', version: 2 };
  test.each<[string, Partial<ContainerForm>, unknown]>([
    ['with TTL off has no defaultTtl', {}, { id: 'c', partitionKey }],
    ['without a default', { ttl: 'no-default' }, { id: 'c', partitionKey, defaultTtl: -1 }],
    ['with seconds', { ttl: 'on', seconds: '60' }, { id: 'c', partitionKey, defaultTtl: 60 }],
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
    [{ ttl: 'on', seconds: 'x' }, 'seconds'],
  ])('%o is wrong in its %s', (change, field) => {
    expect(() => containerOf({ ...form, ...change })).toThrow(expect.objectContaining({ field }));
  });
});
