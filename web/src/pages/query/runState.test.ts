import { expect, test } from 'vitest';
import { ApiError } from '../../api/http';
import type { ResultPage } from './run';
import { begun, failed, NOTHING, shownOf, turned, withPage } from './runState';

const page = (text: string): ResultPage => ({
  text,
  results: { form: { language: 'json' }, rows: [], plain: [], keys: [] } as never,
  roundTripMs: 1,
  ranAtMs: null,
  more: false,
});
const read = ['a', 'b'].reduce((known, text) => withPage(known, page(text)), NOTHING);
const texts = (known: typeof NOTHING) => shownOf(known).pages.map(({ text }) => text);

test('what was read stays until the next execution has a page', () => {
  const running = begun(read, 3);
  expect(texts(running)).toEqual(['a', 'b']);
  const wrong = failed(running, new Error('no'));
  expect(texts(wrong)).toEqual(['a', 'b']);
  expect(wrong.failure).toBeInstanceOf(Error);
  expect(wrong.pages).toEqual([]);
  const again = failed(begun(wrong, 4), new ApiError('cancelled', 0, 'gone', ''));
  expect(again).toMatchObject({ cancelled: true, failure: null, before: { changes: 3 } });
  expect(texts(again)).toEqual(['a', 'b']);
  const right = withPage(begun(again, 5), page('c'));
  expect(texts(right)).toEqual(['c']);
  expect(right.before).toBeNull();
});

test('pages of the execution before are turned as well, within those that were read', () => {
  const wrong = failed(begun(read, 0), new Error('no'));
  expect(shownOf(wrong).at).toBe(1);
  expect(shownOf(turned(wrong, 1)).at).toBe(1);
  expect(shownOf(turned(wrong, -1)).at).toBe(0);
  expect(shownOf(turned(turned(wrong, -1), -1)).at).toBe(0);
  expect(turned(read, -1).at).toBe(0);
});

test('of nothing that was read nothing stays', () => {
  expect(texts(failed(begun(NOTHING, 0), new Error('no')))).toEqual([]);
});
