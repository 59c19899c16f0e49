import { expect, test } from 'vitest';
import { textsOf } from './exportPages';

test('items are taken out of a page as they were written', () => {
  const items = ['{"id":"a","n":9007199254740993,"x":1.50}', '{"id":"b"}'];
  const page = `{"_rid":"x","Documents":[${items.join(' , ')}],"_count":2}`;
  expect(textsOf(page)).toEqual(items);
  expect(textsOf('{"Documents":[]}')).toEqual([]);
  expect(() => textsOf('{')).toThrow('not JSON');
});

test('an item as deep as the server takes them', () => {
  const deep = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
  expect(textsOf(`{"Documents":[${deep(127)}]}`)).toEqual([deep(127)]);
});
