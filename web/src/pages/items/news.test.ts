import { expect, test } from 'vitest';
import { NO_NEWS, newsWords, withNews, withoutKey } from './news';

const news = { mark: null, changed: [] as string[], gone: [] as string[], others: [] as string[] };

test('what others did is counted once, and what is hidden not at all', () => {
  const once = withNews(
    NO_NEWS,
    { ...news, changed: ['a'], others: ['n', 'hidden'] },
    new Map([['hidden', 1]]),
  );
  const twice = withNews(once, { ...news, changed: ['a', 'b'], gone: ['c'] }, new Map());
  expect(newsWords(twice, { isAll: true, more: 0 })).toBe('1 new, 2 changed, 1 gone');
  expect(withNews(twice, { ...news, changed: ['b'] }, new Map())).toBe(twice);
});

test('of a part of a collection nobody knows what is new in it', () => {
  const told = withNews(NO_NEWS, { ...news, others: ['n'] }, new Map());
  expect(newsWords(told, { isAll: false, more: 0 })).toBe('1 written that are not listed');
  expect(newsWords(NO_NEWS, { isAll: true, more: 12 })).toBe('12 new');
  expect(newsWords(NO_NEWS, { isAll: true, more: 0 })).toBeNull();
});

test('what is shown in its newest version is no news any more', () => {
  const told = withNews(NO_NEWS, { ...news, changed: ['a'], gone: ['b'] }, new Map());
  expect(newsWords(withoutKey(told, 'a'), { isAll: true, more: 0 })).toBe('1 gone');
  expect(newsWords(withoutKey(told, 'b'), { isAll: true, more: 0 })).toBe('1 changed');
  expect(withoutKey(told, 'c')).toBe(told);
});
