import { expect, test } from 'vitest';
import { isAskedOf } from './request';

const here = { door: 'mongo', database: 'app', collection: 'log' } as const;

test.each([
  [undefined, true],
  [{ ...here }, true],
  [{ ...here, collection: 'other' }, false],
  [{ ...here, door: 'nosql' as const }, false],
])('what was asked of %o is asked of the page: %s', (target, want) => {
  const asked = { kind: 'import' as const, file: null };
  expect(isAskedOf(target === undefined ? asked : { ...asked, target }, here)).toBe(want);
});
