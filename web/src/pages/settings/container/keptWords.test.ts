import { expect, test } from 'vitest';
import { instantInWords, keptInWords, whyInWords } from './keptWords';

test('why a path is indexed, and since when', () => {
  expect(whyInWords('query')).toBe('A query');
  expect(instantInWords(null)).toBe('–');
  expect(instantInWords(1_795_248_000)).toContain('2026-11-21');
});

test('what is being built and what ends', () => {
  expect(keptInWords(100, null)).toBe('Indexed paths are kept.');
  expect(keptInWords(40, 30)).toBe(
    'Being built: 40 %. Paths that no query uses for 30 days are dropped.',
  );
  expect(keptInWords(100, 1)).toContain('for 1 day are');
});
