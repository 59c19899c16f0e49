import { expect, test } from 'vitest';
import { NO_NEWS, newsWords, withNews, withoutKey } from './news';

const all = { noun: 'document', isFiltered: false, isOpen: false, more: 0 } as const;
const news = { mark: null, changed: [] as string[], gone: [] as string[], others: [] as string[] };

test('what others did is counted once, and what is hidden not at all', () => {
  const once = withNews(
    NO_NEWS,
    { ...news, changed: ['a'], others: ['n', 'hidden'] },
    new Map([['hidden', 1]]),
  );
  const twice = withNews(once, { ...news, changed: ['a', 'b'], gone: ['c'] }, new Map());
  expect(newsWords(twice, all)).toBe('added 1 document, changed 2 and removed 1');
  expect(withNews(twice, { ...news, changed: ['b'] }, new Map())).toBe(twice);
});

test('of a part of a collection nobody knows what is new in it', () => {
  const told = withNews(NO_NEWS, { ...news, others: ['n'] }, new Map());
  expect(newsWords(told, { ...all, isFiltered: true })).toBe(
    'written 1 document not shown in this list (perhaps it does not match the filter)',
  );
  const many = { ...news, others: ['n', 'm'], gone: ['a'] };
  const both = { noun: 'item', isFiltered: true, isOpen: true, more: 0 } as const;
  expect(newsWords(withNews(told, many, new Map()), both)).toBe(
    'written 2 items not shown in this list (perhaps they do not match the filter, or come further ' +
      'down) and removed 1',
  );
  expect(newsWords(told, { ...all, isOpen: true })).toContain('(perhaps it comes further down)');
  expect(newsWords(NO_NEWS, { ...all, more: 12 })).toBe('added 12 documents');
  expect(newsWords(NO_NEWS, all)).toBeNull();
});

test('what is shown in its newest version is no news any more', () => {
  const told = withNews(NO_NEWS, { ...news, changed: ['a'], gone: ['b'] }, new Map());
  expect(newsWords(withoutKey(told, 'a'), all)).toBe('removed 1 document');
  expect(newsWords(withoutKey(told, 'b'), all)).toBe('changed 1 document');
  expect(withoutKey(told, 'c')).toBe(told);
});
