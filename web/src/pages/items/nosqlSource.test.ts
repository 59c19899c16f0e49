import { expect, test } from 'vitest';
import { NosqlSource } from './nosqlSource';

function source(...paths: string[]): NosqlSource {
  const target = { door: 'nosql', database: 'app', collection: 'log' } as const;
  return new NosqlSource(target, {
    id: 'log',
    _rid: '',
    _self: '',
    _etag: '',
    partitionKey: { paths },
  });
}

test.each<[string, unknown]>([
  ['["one","ada"]', { id: 'one', partition: ['ada'] }],
  ['["one",{}]', { id: 'one', partition: [undefined] }],
  ['["one",null]', { id: 'one', partition: [null] }],
  ['["one",1.5]', { id: 'one', partition: [1.5] }],
])('the item of %s', (key, ref) =>
  expect(source('/user').rowOf(key)).toMatchObject({ key, name: 'one', ref }),
);

test.each(['', 'one', '["one"]', '["one","a","b"]', '[1,"a"]', '{}', 'null'])(
  '%j is no key',
  (key) => {
    expect(source('/user').rowOf(key)).toBeNull();
  },
);
