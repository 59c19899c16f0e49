import { expect, test } from 'vitest';
import { documentTemplate, itemTemplate } from './template';

const ID = '0a1b';

test.each<[string[], object, string]>([
  [['/id'], { id: ID }, ID],
  [['/user'], { id: ID, user: '' }, ''],
  [['/id/sub'], { id: ID }, ID],
  [['/a/b', '/a/c', '/d'], { id: ID, a: { b: '', c: '' }, d: '' }, ''],
  [['/"a b"/"c/d"'], { id: ID, 'a b': { 'c/d': '' } }, ''],
  [['/a', '/a/b'], { id: ID, a: '' }, ''],
])('a container by %j', (paths, want, selected) => {
  const { text, from, to } = itemTemplate(paths, ID);
  expect(JSON.parse(text)).toEqual(want);
  expect(text.slice(from, to)).toBe(selected);
  expect([text[from - 1], text[to]]).toEqual(['"', '"']);
});

test('the first part of a key is what is selected', () => {
  const { text, from } = itemTemplate(['/tenant', '/user'], ID);
  expect(text.slice(0, from)).toMatch(/"tenant": "$/);
});

test('a key path that objects know already', () => {
  for (const name of ['__proto__', 'constructor', 'toString']) {
    expect(itemTemplate([`/a/${name}/b`], ID).text).toContain(`"${name}": {`);
    const { text, from } = itemTemplate([`/${name}`], ID);
    expect(text).toContain(`"${name}": ""`);
    expect(text.slice(0, from)).toMatch(new RegExp(`"${name}": "$`));
  }
});

test('an empty document has its cursor on its own line', () => {
  const { text, from, to } = documentTemplate();
  expect([text.slice(0, from), text.slice(to)]).toEqual(['{\n  ', '\n}']);
});
