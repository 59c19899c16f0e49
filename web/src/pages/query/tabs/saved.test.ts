import { expect, test } from 'vitest';
import { isChanged, isSavedList, renamedSaved, withoutSaved, withSaved } from './saved';

const one = (name: string, text = name) => ({ name, texts: { text } });

test('saved queries stand in the order of their names, each name once', () => {
  const all = withSaved(withSaved(withSaved([], one('b')), one('a')), one('b', 'new'));
  expect(all).toEqual([one('a'), one('b', 'new')]);
  expect(withoutSaved(all, 'a')).toEqual([one('b', 'new')]);
  expect(renamedSaved(all, 'a', 'c')).toEqual([one('b', 'new'), one('c', 'a')]);
  expect(renamedSaved(all, 'a', 'b')).toEqual([one('b', 'a')]);
  expect(renamedSaved(all, 'none', 'b')).toEqual(all);
});

test.each([
  [[one('a')], true],
  [[{ name: 'a', texts: { text: 1 } }], false],
  [{}, false],
])('%j is a list of them: %s', (value, want) => expect(isSavedList(value)).toBe(want));

test('a tab differs from the saved query of its name, and from no other', () => {
  const all = [{ name: 'a', texts: { filter: '{}', sort: '' } }];
  expect(isChanged(all, 'a', { filter: '{}' })).toBe(false);
  expect(isChanged(all, 'a', { filter: '{ n: 1 }' })).toBe(true);
  expect(isChanged(all, 'a', { filter: '{}', limit: '5' })).toBe(true);
  expect(isChanged(all, 'b', { filter: '{ n: 1 }' })).toBe(false);
  expect(isChanged(all, '', { filter: '{ n: 1 }' })).toBe(false);
});
