import { expect, test } from 'vitest';
import { texts } from '../testing/random';
import { shortened, toldApart } from './shorten';

test('a text is shortened in its middle', () => {
  expect(shortened('65f0c0ffee0123456789abcd', 13)).toBe('65f0…6789abcd');
  expect(shortened('short', 5)).toBe('short');
  expect(shortened('abcdef', 2)).toBe('…f');
});

test('a character of two units is not cut', () => {
  expect(shortened('😀😀😀😀😀😀', 7)).toBe('😀…😀😀');
  expect(shortened('ab😀😀😀😀', 6)).toBe('a…😀😀');
});

test('ids that differ in their middle are shown by it', () => {
  const ids = ['order-2026-eu-000001-suffix-same', 'order-2026-us-000001-suffix-same'];
  expect([...toldApart(ids, 12).values()]).toEqual(['…eu-000001-…', '…us-000001-…']);
});

test('ids that one machine makes one after another are told apart by their end', () => {
  const ids = Array.from({ length: 300 }, (_, at) => `65f0c0ffee0123456789${at + 4096}`);
  const shown = [...toldApart(ids, 13).values()];
  expect(new Set(shown).size).toBe(300);
  expect(shown.every((text) => text.length === 13)).toBe(true);
});

test('different texts never look alike', () => {
  for (let round = 0; round < 300; round += 1) {
    const next = texts(round, round % 2 === 0 ? 'ab' : 'a…😀');
    const given = [...new Set(Array.from({ length: 30 }, () => next(24)))];
    const shown = toldApart(given, 8);
    expect(new Set(shown.values()).size).toBe(given.length);
  }
});
