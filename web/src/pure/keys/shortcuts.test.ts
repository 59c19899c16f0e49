import { expect, test } from 'vitest';
import { grouped, press, SHORTCUTS } from './shortcuts';

const whatOf = (held: string | null, key: string) => {
  const found = press(held, key);
  return found !== null && 'shortcut' in found ? found.shortcut.what : found;
};

test.each<[string | null, string, unknown]>([
  [null, 'n', 'New item'],
  [null, '/', 'Filter'],
  [null, '?', 'Show these keys'],
  [null, 'x', null],
  [null, 'g', { held: 'g' }],
  ['g', 'i', 'Items'],
  ['g', 'h', 'Home'],
  // A wrong second key may start another shortcut.
  ['g', 'n', 'New item'],
  ['g', 'g', { held: 'g' }],
  ['g', 'x', null],
  // Handled by the pages themselves.
  [null, 'Enter', null],
  [null, 'Delete', null],
  [null, 'Esc', null],
])('after %o the key %o means %o', (held, key, want) => expect(whatOf(held, key)).toEqual(want));

test('no two shortcuts share their keys, and all of them stand on the sheet', () => {
  // Keys of the `told` kind may repeat in different parts of the page.
  const keys = SHORTCUTS.map(({ keys, does, group }) =>
    does.kind === 'told' ? `${group}: ${keys}` : keys,
  );
  expect(new Set(keys).size).toBe(keys.length);
  expect(grouped().flatMap(([, shortcuts]) => shortcuts)).toHaveLength(SHORTCUTS.length);
});
